package modules

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// versionsAnswers are responses, and some words of their error, or "<nil>" for no error.
var versionsAnswers = map[string]string{
	`{"modules":[{"versions":[{"version":"1.0.0"}]}]}`:                                                 "<nil>",
	`{"modules":[{"source":"a/b/c","versions":[{"version":"1.0.0","root":{}},{"version":""}]}, null]}`: "<nil>",
	`{"modules":[{}]}`:                  "<nil>",
	`{"modules":[{"versions":null}]}`:   "<nil>",
	`{"modules":[{"versions":[{}]}]}`:   "<nil>",
	`{}`:                                "no module",
	`null`:                              "no module",
	`{"modules":[]}`:                    "no module",
	`{"modules":[null]}`:                "no module",
	`{"modules":[{"versions":[null]}]}`: "versions[0] is null",
	`{"modules":{}}`:                    "modules can't be a JSON object",
	`{"modules":[{"versions":[{"version":1}]}]}`: "can't be a JSON number",
	`[]`:                              "it is a JSON array, not an object",
	`{"modules":[{"versions":[]}]} x`: "invalid character",
	``:                                "unexpected end",
}

func TestDecodeVersions(t *testing.T) {
	for body, want := range versionsAnswers {
		must.Contain(t, fmt.Sprint(must.ErrorOf(decodeVersions([]byte(body)))), want, body)
	}
}

func TestRegistry_OnlyTheFirstModuleOfAnAnswerCounts(t *testing.T) {
	list := must.Get(decodeVersions([]byte(`{"modules":[{"versions":[{"version":"1.0.0"}]},{"versions":[{"version":"3.0.0"}]}]}`)))(t)
	must.Len(t, list.versions, 1)
	must.Equal(t, list.versions[0].String(), "1.0.0")
}

// askedURL is the URL of a request for a location.
var askedURL = &url.URL{Scheme: "https", Host: "api.example.com", Path: "/v1/modules/acme/net/cloud/1.0.0/download"}

// locations are responses of a registry, and their meaning: package and subdirectory, or "error" and some words of
// it.
var locations = map[string]string{
	"https://dl.example.com/net.tgz":                  "https://dl.example.com/net.tgz",
	"https://dl.example.com/net.tgz//sub?archive=tgz": "https://dl.example.com/net.tgz?archive=tgz sub",
	"https://dl.example.com/net//*?archive=tar.gz":    "https://dl.example.com/net?archive=tar.gz *",
	"git::https://git.example.com/net.git?ref=v1":     "git::https://git.example.com/net.git?ref=v1",
	"github.com/acme/net?ref=v1":                      "git::https://github.com/acme/net.git?ref=v1",
	"github.com/acme/net/sub":                         "git::https://github.com/acme/net.git sub",
	"git@example.com:acme/net.git":                    "git::ssh://git@example.com/acme/net.git",
	"s3.amazonaws.com/bucket/net.zip":                 "s3::https://s3.amazonaws.com/bucket/net.zip",
	"/net.tgz":                                        "https://api.example.com/net.tgz",
	"/net.tgz//sub/x":                                 "https://api.example.com/net.tgz sub/x",
	"/net.tgz//..":                                    "https://api.example.com/net.tgz/",
	"./net.tgz?a=b":                                   "https://api.example.com/v1/modules/acme/net/cloud/1.0.0/net.tgz?a=b",
	"../../../../../../../../net.tgz":                 "https://api.example.com/net.tgz",
	"//dl.example.com/net.tgz":                        "https://dl.example.com/net.tgz",
	"":                                                "error names no location",
	" /net.tgz":                                       "error neither a URL",
	"net.tgz":                                         "error neither a URL",
	"/%zz?token=S3CRET":                               "error not a relative URL",
	"foo?token=S3CRET":                                "error neither a URL",
	"https://x.example/%zz?token=S3CRET":              "error neither a URL",
	"git::https://me:S3CRET@x.example/%zz":            "error neither a URL",
	"git@example.com:a/b?token=%zzS3CRET":             "error malformed",
	"acme/net/cloud":                                  "error address of a package",
	"example.com/acme/net/cloud//sub":                 "error address of a package",
	"https://x.example/net//../..":                    "error outside",
	strings.Repeat("x", maxLocation+1):                "error bytes",
}

func TestReadLocation(t *testing.T) {
	for header, want := range locations {
		remote, err := readLocation(header, askedURL)
		got := strings.TrimSuffix(remote.Package+" "+remote.Subdir, " ")
		words, refused := strings.CutPrefix(want, "error ")
		must.Equal(t, err != nil, refused, header, err)
		if refused {
			must.Contain(t, err, words, header)
			must.NotContain(t, err, "S3CRET", header)
			want = ""
		}
		must.Equal(t, got, want, header)
	}
}

func FuzzDecodeVersions(f *testing.F) {
	for body := range versionsAnswers {
		f.Add([]byte(body), "~> 1.0")
	}
	for _, c := range selectCases {
		f.Add([]byte(`{"modules":[{"versions":[{"version":"`+strings.ReplaceAll(c.listed, " ", `"},{"version":"`)+`"}]}]}`), c.constraint)
	}
	f.Fuzz(func(t *testing.T, body []byte, constraint string) {
		list, err := decodeVersions(body)
		if err != nil {
			return
		}
		want, err := parseWanted(constraint)
		if err != nil {
			return
		}
		choice, err := list.choose(Registry{}, want)
		must.Equal(t, err == nil, choice.Version != "", choice.Version, err)
		if err != nil {
			return
		}
		must.Succeed(t, must.ErrorOf(newRelease(netModule, choice.Version)))
		if constraint != "" && !(Record{Version: choice.Version}).satisfies(constraint) {
			t.Errorf("chose %q, which a recorded module may not have", choice.Version)
		}
	})
}

func FuzzReadLocation(f *testing.F) {
	for header := range locations {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		remote, err := readLocation(header, askedURL)
		if err != nil {
			return
		}
		must.Succeed(t, must.ErrorOf(parseLocation(remote.String())), header)
	})
}
