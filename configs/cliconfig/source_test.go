package cliconfig

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// described returns the names of the sources for a provider, in their order.
func described(t *testing.T, source getproviders.MultiSource, address string) string {
	t.Helper()
	p := must.Get(terraform.ParseProvider(address))(t)
	return source.Describe(p).Name
}

func TestSource_AsksTheMethodsInTheirOrder(t *testing.T) {
	config := mustParse(t, `provider_installation {
  filesystem_mirror {
    path    = "mirror"
    include = ["example.com/*/*"]
  }
  network_mirror {
    url     = "https://mirror.example.com/p/"
    exclude = ["example.com/acme/b"]
  }
  network_mirror {
    url     = "https://mirror.example.com/p/"
    include = ["example.com/acme/b"]
  }
  direct {
    exclude = ["example.com/*/*"]
  }
}`)
	source := must.Get(config.Source(t.Context(), SourceOptions{Product: terraform}))(t)
	if len(source.Selectors) != 4 || source.Selectors[1].Source != source.Selectors[2].Source {
		t.Errorf("two methods with one URL have two sources: %+v", source.Selectors)
	}
	for address, want := range map[string]string{
		"example.com/acme/a": "mirror, provider mirror at https://mirror.example.com/p/",
		"hashicorp/aws":      "provider mirror at https://mirror.example.com/p/, registry registry.terraform.io",
	} {
		must.Equal(t, described(t, source, address), want, address)
	}
	if !source.Selectors[3].IsRegistry || source.Selectors[0].IsRegistry {
		t.Error("the registry isn't told from mirrors")
	}
}

func TestSource_TakesTheUsualDirectoriesWithoutABlock(t *testing.T) {
	home, wd := t.TempDir(), t.TempDir()
	t.Chdir(wd)
	own := filepath.Join(home, ".terraform.d/plugins")
	vendored := filepath.Join("terraform.d", "plugins")
	for _, dir := range []string{own, vendored} {
		must.Succeed(t, os.MkdirAll(filepath.Join(dir, "example.com/acme/a/1.0.0/linux_amd64"), 0o700))
	}
	user := User{HomeDir: home, GOOS: "linux"}
	options := SourceOptions{Product: terraform, User: user, Fallback: getproviders.Exclusive}
	source, err := new(Config).Source(t.Context(), options)
	must.Succeed(t, err)
	must.Equal(t, described(t, source, "example.com/acme/a"), vendored+", "+own)
	must.Equal(t, source.Fallback, getproviders.StopOnFailure)

	options.Except = "./" + vendored
	if source, err = new(Config).Source(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	must.Equal(t, described(t, source, "example.com/acme/a"), own)

	options.Dirs = []string{"x"}
	must.Len(t, must.Get(new(Config).Source(t.Context(), options))(t).Selectors, 1, "beside the directories that the user gave, others are asked")
}

func TestSource_MirrorsTakeThePlaceOfAllOthers(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Succeed(t, os.MkdirAll("terraform.d/plugins/example.com/acme/a/1.0.0/linux_amd64", 0o700))
	block, _ := parse("provider_installation {\n  filesystem_mirror {\n    path = \"configured\"\n  }\n}")
	options := SourceOptions{Product: terraform}
	options.Mirrors = []getproviders.Source{options.FilesystemMirror("one"), options.FilesystemMirror("two")}
	for _, config := range []*Config{new(Config), block} {
		options.MirrorsFirst = false
		must.Equal(t, described(t, must.Get(config.Source(t.Context(), options))(t), "example.com/acme/a"), "one, two")
		options.MirrorsFirst = true
		must.Contain(t, described(t, must.Get(config.Source(t.Context(), options))(t), "example.com/acme/a"), "one, two, ")
	}
	registry := SourceOptions{Product: terraform}.Registry()
	p := getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "a"}
	must.Equal(t, options.MirrorsOr(registry).Describe(p).Name, "one, two")
	must.Equal(t, SourceOptions{}.MirrorsOr(registry).Describe(p).Name, "registry example.com")
}

func TestSource_SaysThatTheHelperIsMissing(t *testing.T) {
	config := &Config{Helper: &CredentialsHelper{Name: "nobody"}}
	must.Contain(t, must.ErrorOf(config.Source(t.Context(), SourceOptions{Product: terraform})), "nobody")
	network, problems := config.Network(NetworkOptions{})
	if len(problems) != 1 || !problems[0].Warning {
		t.Fatalf("the problems are %+v", problems)
	}
	must.Get(config.Source(t.Context(), SourceOptions{Product: terraform, Network: network}))(t)
}

// A server makes new sources for each request, so they cache nothing; the directories of one run share theirs.
func TestNetwork_SourcesAreSharedOnlyIfAsked(t *testing.T) {
	config, _ := parse("provider_installation {\n  network_mirror {\n    url = \"https://mirror.example.com/\"\n  }\n  direct {}\n}")
	network, problems := config.Network(NetworkOptions{})
	must.Len(t, problems, 0)
	for _, shared := range []bool{false, true} {
		if shared {
			network = network.SharingSources()
		}
		options := SourceOptions{Product: terraform, Network: network}
		one, two := must.Get(config.Source(t.Context(), options))(t), must.Get(config.Source(t.Context(), options))(t)
		for i := range one.Selectors {
			must.Equal(t, one.Selectors[i].Source == two.Selectors[i].Source, shared, i)
		}
	}
}

func TestSource_RefusesAnUnknownMethod(t *testing.T) {
	config := &Config{Installation: []Method{{}}}
	must.Refuse(config.Source(t.Context(), SourceOptions{Product: terraform}))(t, "a method of no kind is accepted")
	must.Equal(t, MethodKind(0).String()+MethodKind(99).String(), "unknownunknown")
}

func TestNetwork_TakesTokensOfVariablesFirst(t *testing.T) {
	config := &Config{Tokens: hosts.NewStaticTokens(map[hosts.Hostname]string{"a.com": "file", "b.com": "file"})}
	network, problems := config.Network(NetworkOptions{User: User{Environ: []string{"TF_TOKEN_a_com=variable"}}})
	must.Len(t, problems, 0)
	for host, want := range map[hosts.Hostname]string{"a.com": "variable", "b.com": "file", "c.com": ""} {
		must.Equal(t, must.Get(network.Credentials.Token(t.Context(), host))(t), want, host)
	}
}

func TestNetwork_SendsNothingOffline(t *testing.T) {
	config := &Config{Helper: &CredentialsHelper{Name: "nobody"}, Tokens: hosts.NewStaticTokens(map[hosts.Hostname]string{"a.com": "file"})}
	network, problems := config.Network(NetworkOptions{
		OfflineBy: "-offline", Client: http.DefaultClient, SameHost: true, User: User{Environ: []string{"TF_TOKEN_a_com=variable"}},
	})
	if len(problems) > 0 || network.Credentials != nil || network.Discovery.Credentials != nil || network.OfflineBy != "-offline" {
		t.Errorf("somebody looked for the helper: %+v", problems)
	}
	for _, client := range []*http.Client{network.Client, network.Archives, network.Discovery.Client} {
		must.Fail(t, must.ErrorOf(client.Get("https://127.0.0.1:1/")), hosts.ErrOffline)
	}
}

func TestUser_Getenv(t *testing.T) {
	user := User{Environ: []string{"A=1", "b=2", "A=3", "C"}, GOOS: "linux"}
	for name, want := range map[string]string{"A": "3", "a": "", "b": "2", "C": "", "D": ""} {
		must.Equal(t, user.Getenv(name), want, name)
	}
	if user.GOOS = "windows"; user.Getenv("B") != "2" {
		t.Error("on Windows the case of a name matters")
	}
}
