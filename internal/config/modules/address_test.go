package modules

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

var asTerraform, asOpenTofu = getproviders.Terraform("1.15.9"), getproviders.OpenTofu("1.12.6")

// addressCases map sources to their kind and normalised address, or "error" and some words of it; "strict" if Terraform
// reports no error.
var addressCases = map[string]string{
	"./a":           "local ./a",
	"./a/":          "local ./a",
	"./":            "local ./.",
	"../":           "local ./..",
	"./..":          "local ./..",
	"../..":         "local ../..",
	"./../a":        "local ../a",
	`..\a\b`:        "local ../a/b",
	`.\`:            "local ./.",
	"./a//b":        "local ./a/b",
	"./a?x=1":       "local ./a?x=1",
	".":             `error "./."`,
	"..":            `error "./.."`,
	"":              "error empty",
	" ./a":          "error neither a URL",
	"foo":           `error "./foo"`,
	"foo/bar?ref=1": "error neither a URL",

	"a/b/c":                          "registry registry.terraform.io/a/b/c",
	"a/b/c//d":                       "registry registry.terraform.io/a/b/c//d",
	"a/b/c//d/":                      "registry registry.terraform.io/a/b/c//d",
	"a/b/c//":                        "registry registry.terraform.io/a/b/c",
	"a-b/c_d/e1":                     "registry registry.terraform.io/a-b/c_d/e1",
	"EXAMPLE.com/A/B/c":              "registry example.com/A/B/c",
	"example.com:8443/a/b/c":         "registry example.com:8443/a/b/c",
	"bücher.example/a/b/c":           "registry bücher.example/a/b/c",
	"gitlab.com/a/b/c":               "registry gitlab.com/a/b/c",
	"terraform-aws-modules/vpc/aws":  "registry registry.terraform.io/terraform-aws-modules/vpc/aws",
	strings.Repeat("a", 64) + "/b/c": "registry " + "registry.terraform.io/" + strings.Repeat("a", 64) + "/b/c",
	strings.Repeat("a", 65) + "/b/c": "error neither a URL",
	"a/b/c//../d":                    "error outside",
	"a/b/c?x=1":                      "error neither a URL",
	"a/b/C":                          "error neither a URL",
	"-a/b/c":                         "error neither a URL",
	"a_/b/c":                         "error neither a URL",
	"localhost/a/b/c":                "error neither a URL",
	"Github.com/a/b/c":               "error neither a URL",
	"xn--bcher-kva.example/a/b/c":    "error neither a URL",
	"a/b":                            "error neither a URL",
	"a/b/c/":                         "error neither a URL",
	"a/b/c/d/e":                      "error neither a URL",
	"a/b/c//x?y=1":                   "error neither a URL",

	"localhost:8443/a/b/c":                       "remote localhost:8443/a/b/c", // a URL with the scheme "localhost"
	"github.com/a/b/c":                           "remote git::https://github.com/a/b.git//c",
	"github.com/o/r":                             "remote git::https://github.com/o/r.git",
	"github.com/o/r.git":                         "remote git::https://github.com/o/r.git",
	"github.com/o/r?ref=v1":                      "remote git::https://github.com/o/r.git?ref=v1",
	"github.com/o/r#frag":                        "remote git::https://github.com/o/r.git#frag",
	"github.com/o/r?ref=a//b":                    "remote git::https://github.com/o/r.git?ref=a//b",
	"github.com/o/r/sub/dir?ref=v1":              "remote git::https://github.com/o/r.git//sub/dir?ref=v1",
	"github.com/o/r//sub?ref=v1":                 "remote git::https://github.com/o/r.git//sub?ref=v1",
	"github.com/o/r/sub//x":                      "remote git::https://github.com/o/r.git//sub/x",
	"git::github.com/o/r//s":                     "remote git::https://github.com/o/r.git//s",
	"github.com/o":                               "error OWNER/REPOSITORY",
	"bitbucket.org/o/r":                          "remote git::https://bitbucket.org/o/r.git",
	"bitbucket.org/o/r.git":                      "remote git::https://bitbucket.org/o/r.git",
	"bitbucket.org/a/b/c":                        "remote git::https://bitbucket.org/a/b/c.git",
	"bitbucket.org/o/r//s?ref=1":                 "remote git::https://bitbucket.org/o/r.git//s?ref=1",
	"git@github.com:o/r.git//sub?ref=v1":         "remote git::ssh://git@github.com/o/r.git//sub?ref=v1",
	"git@example.com:/abs/r.git?ref=a&depth=1":   "remote git::ssh://git@example.com/abs/r.git?depth=1&ref=a",
	"git@github.com:22/x":                        "remote git::ssh://git@github.com/22/x",
	"git::git@github.com:o/r":                    "remote git::ssh://git@github.com/o/r",
	"user@example.com:o/r":                       "error neither a URL",
	"GIT@github.com:o/r":                         "error neither a URL",
	"git@host":                                   "error neither a URL",
	"git::https://x.example/r.git//a/b?ref=1":    "remote git::https://x.example/r.git//a/b?ref=1",
	"git::https://x.example/r.git//a/../b":       "remote git::https://x.example/r.git//b",
	"git::https://x.example/r.git//a//b":         "remote git::https://x.example/r.git//a/b",
	"git::https://x.example/r.git//":             "remote git::https://x.example/r.git",
	"git::https://x.example/a.git?ref=a//b":      "remote git::https://x.example/a.git?ref=a//b",
	"git::https://x.example/r.git//../b":         "error outside",
	"git::ssh://git@x.example/r.git":             "remote git::ssh://git@x.example/r.git",
	"git::/abs/repo":                             "remote git::file:///abs/repo",
	"git::./rel":                                 "error neither a URL",
	"git::https://x.example/%zz":                 "error neither a URL",
	"hg::http://x.example/r":                     "remote hg::http://x.example/r",
	"https://x.example/a.zip//sub/*?x=1&y=2":     "remote https://x.example/a.zip//sub/*?x=1&y=2",
	"https://x.example//sub":                     "remote https://x.example//sub",
	"HTTPS://X.example/a":                        "remote HTTPS://X.example/a",
	"oci://x/y":                                  "remote oci://x/y",
	`C:\x`:                                       `remote C:\x`, // a URL with the scheme "c"
	"s3.amazonaws.com/b/k.zip":                   "remote s3::https://s3.amazonaws.com/b/k.zip",
	"s3-eu-west-1.amazonaws.com/b/k.zip":         "remote s3::https://s3-eu-west-1.amazonaws.com/b/k.zip",
	"b.s3.amazonaws.com/k.zip":                   "remote s3::https://s3.amazonaws.com/b/k.zip",
	"b.s3-eu-west-1.amazonaws.com/k/l.zip":       "remote s3::https://s3-eu-west-1.amazonaws.com/b/k/l.zip",
	"s3.eu-west-1.amazonaws.com/b/k.zip":         "remote s3::https://eu-west-1.amazonaws.com/s3/b/k.zip",
	"b.s3.eu-west-1.amazonaws.com/k.zip//sub":    "remote s3::https://s3.eu-west-1.amazonaws.com/b/k.zip//sub",
	"s3.cn-north-1.amazonaws.com.cn/b/k":         "error neither a URL",
	"www.googleapis.com/storage/v1/b/o/p.zip//s": "remote gcs::https://www.googleapis.com/storage/v1/b/o/p.zip//s",
	"www.googleapis.com/storage/v1/b":            "registry www.googleapis.com/storage/v1/b",
	"/abs/path//sub":                             "remote file:///abs/path//sub",
	"/abs/../path/":                              "remote file:///abs/../path/",
	"/a b/c":                                     "remote file:///a b/c",
	"//abs":                                      "error empty",
	"x::y":                                       "error neither a URL",
	"::":                                         "error neither a URL",

	"a/b/c//..":      "strict outside",
	"a/b/c//d/../..": "strict outside",
	"git::":          "strict neither a URL",
	"git@[::1]:x/y":  "strict neither a URL",
}

func TestParseAddress(t *testing.T) {
	for source, want := range addressCases {
		t.Run(source, func(t *testing.T) {
			if source == `C:\x` && runtime.GOOS == "windows" {
				want = "remote file:///C:/x"
			}
			address, err := ParseAddress(source, asTerraform)
			if kind, words, _ := strings.Cut(want, " "); kind == "error" || kind == "strict" {
				must.Contain(t, err, words, address)
				return
			}
			must.Succeed(t, err)
			must.Equal(t, kindOf(address)+" "+address.String(), want)
		})
	}
}

func kindOf(address Address) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", address), "modules."))
}

func TestParseRegistry_TakesNothingElse(t *testing.T) {
	for source, want := range map[string]string{
		"./a":                   "local directory",
		"github.com/a/b/c":      "not a module registry",
		"bitbucket.org/a/b/c":   "not a module registry",
		"localhost/a/b/c":       "no dot",
		"a.b:x/c/d/e":           "decimal port",
		"https://example.com/a": "no dot",
		"a/b-/c":                "module name",
		"/b/c":                  "namespace",
		"a/b/c-d":               "target system",
		"a/b/c//../d":           "outside",
		"a/b":                   "[HOST/]NAMESPACE/NAME/SYSTEM",
	} {
		must.Contain(t, must.ErrorOf(ParseRegistry(source, asTerraform)), want, source)
	}
	address := must.Get(ParseRegistry("a/b/c//d", asTerraform))(t)
	must.Equal(t, address.Package()+" "+address.Subdir, "registry.terraform.io/a/b/c d")
}

func FuzzParseAddress(f *testing.F) {
	for source := range addressCases {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		address, err := ParseAddress(source, asTerraform)
		if err != nil {
			return
		}
		again, err := ParseAddress(address.String(), asTerraform)
		must.Succeed(t, err, source, address)
		must.Equal(t, again.String(), address.String(), source, address, again)
	})
}
