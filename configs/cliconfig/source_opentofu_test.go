package cliconfig

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/must"
)

var openTofu = getproviders.OpenTofu("1.12.6")

// parseTofu reads the content of OpenTofu's file.
func parseTofu(src string) (*Config, []Problem) {
	r := newReader(testEnv, dialect.Of(openTofu))
	r.content(".tofurc", []byte(src))
	return r.result()
}

func mustParseTofu(t testing.TB, src string) *Config {
	t.Helper()
	config, problems := parseTofu(src)
	must.Len(t, problems, 0, src)
	return config
}

// archiveSource returns the same archive for every package.
type archiveSource struct{ getproviders.Source }

func (archiveSource) Package(context.Context, getproviders.Provider, getproviders.Version, getproviders.Platform) (getproviders.Package, error) {
	return getproviders.Package{Location: getproviders.HTTPArchive{URL: &url.URL{Scheme: "https", Host: "example.com"}}}, nil
}

func TestSource_RetriesDownloadsAsOpenTofu(t *testing.T) {
	none, five := 0, 5
	for _, c := range []struct {
		product  getproviders.Product
		variable string
		given    *int
		want     int // -1: as often as the client does it
	}{
		{terraform, "7", nil, -1},
		{openTofu, "", nil, 2},
		{openTofu, "7", nil, 7},
		{openTofu, "0", nil, 2},
		{openTofu, "many", nil, 2},
		{openTofu, "7", &five, 5},
		{openTofu, "7", &none, 0},
	} {
		o := SourceOptions{Product: c.product, User: User{Environ: []string{"TF_PROVIDER_DOWNLOAD_RETRY=" + c.variable}}}
		found := must.Get(o.retried(archiveSource{}, c.given).Package(t.Context(), getproviders.Provider{}, getproviders.Version{}, getproviders.Platform{}))(t)
		got := -1
		if retries := found.Location.(getproviders.HTTPArchive).Retries; retries != nil {
			got = *retries
		}
		must.Equal(t, got, c.want, c.product.Name, c.variable, c.given)
	}
}

func TestInstallation_OpenTofuHasRetriesAndTrust(t *testing.T) {
	config := mustParseTofu(t, `provider_installation {
  network_mirror {
    url                  = "https://mirror.example.com/"
    include              = ["example.com/*/*"]
    trust_all_hashes     = true
    download_retry_count = 0
  }
  direct {
    download_retry_count = 4
  }
}`)
	must.Len(t, config.Installation, 2)
	mirror, direct := config.Installation[0], config.Installation[1]
	if !mirror.trustAll || mirror.retries == nil || *mirror.retries != 0 || direct.trustAll || direct.retries == nil || *direct.retries != 4 {
		t.Errorf("%+v, %+v", mirror, direct)
	}
	for _, wrong := range []string{
		`direct { download_retry_count = -1 }`,
		`direct { download_retry_count = "x" }`,
		`network_mirror { url = "https://m.example.com/" trust_all_hashes = 5 }`,
	} {
		if _, problems := parseTofu("provider_installation {\n" + strings.ReplaceAll(wrong, `" trust`, "\"\n trust") + "\n}"); len(problems) == 0 {
			t.Errorf("%s: no problem", wrong)
		}
		if _, problems := parse("provider_installation {\n" + strings.ReplaceAll(wrong, `" trust`, "\"\n trust") + "\n}"); len(problems) > 0 {
			t.Errorf("%s: Terraform ignores it: %v", wrong, problems)
		}
	}
}

func TestSource_OCIMirrorFailsForWhatItIsFor(t *testing.T) {
	config := mustParseTofu(t, `provider_installation {
  oci_mirror {
    repository_template = "example.com/${namespace}/${type}"
    include             = ["example.com/oci/*"]
  }
  filesystem_mirror {
    path = "."
  }
}`)
	source := must.Get(config.Source(t.Context(), SourceOptions{Product: openTofu}))(t)
	ask := func(address string) error {
		p, err := openTofu.ParseProvider(address)
		must.Succeed(t, err)
		_, err = source.Versions(t.Context(), p)
		return err
	}
	if err := ask("example.com/oci/a"); err == nil || !strings.Contains(err.Error(), "oci_mirror") || !strings.Contains(err.Error(), "example.com/oci/a") {
		t.Errorf("error %v", err)
	}
	if err := ask("example.com/other/a"); err != nil && strings.Contains(err.Error(), "can't do") {
		t.Errorf("error %v", err)
	}
}

// OpenTofu drops a file that sets an argument twice. Terraform takes the last value.
func TestRead_OpenTofuHasEachArgumentOnce(t *testing.T) {
	for src, line := range map[string]int{
		"provider_installation {\n filesystem_mirror {\n  path = \"/x\"\n  path = \"/m\"\n }\n}":  4,
		"plugin_cache_dir = \"/x\"\nplugin_cache_dir = \"/m\"":                                    2,
		"host \"a.com\" {\n services = {\n  \"x.v1\" = \"/a\"\n  \"x.v1\" = \"/b\"\n }\n}":        4,
		"provider_installation {\n direct {\n  exclude = [\"a/b\"]\n  exclude = [\"c/d\"]\n }\n}": 4,
	} {
		_, problems := parseTofu(src)
		must.Len(t, problems, 1, src)
		must.Equal(t, problems[0].Line, line, src)
		must.Contain(t, problems[0].Detail, "is set already")
		mustParse(t, src)

		older := newReader(testEnv, dialect.Of(getproviders.OpenTofu("1.11.0")))
		older.content(".tofurc", []byte(src))
		_, problems = older.result()
		must.Len(t, problems, 0, src)
	}

	for _, src := range []string{
		"provider_installation {\n direct {}\n direct {}\n}",                               // blocks
		"host \"a.com\" { services = {} }\nhost \"a.com\" { services = {} }",               // blocks with a label
		"credentials \"a.com\" { token = \"x\" }\ncredentials \"b.com\" { token = \"x\" }", // in other blocks
		"{\"plugin_cache_dir\": \"/x\", \"plugin_cache_dir\": \"/m\"}",                     // JSON
	} {
		mustParseTofu(t, src)
	}
}
