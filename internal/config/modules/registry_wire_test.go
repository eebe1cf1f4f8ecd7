package modules

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// versionsAnswers are answers, and some words of the error about them.
var versionsAnswers = []struct{ body, err string }{
	{`{"modules":[{"versions":[{"version":"1.0.0"}]}]}`, ""},
	{`{"modules":[{"source":"a/b/c","versions":[{"version":"1.0.0","root":{}},{"version":""}]}, null]}`, ""},
	{`{"modules":[{}]}`, ""},
	{`{"modules":[{"versions":null}]}`, ""},
	{`{"modules":[{"versions":[{}]}]}`, ""},
	{`{}`, "no module"},
	{`null`, "no module"},
	{`{"modules":[]}`, "no module"},
	{`{"modules":[null]}`, "no module"},
	{`{"modules":[{"versions":[null]}]}`, "versions[0] is null"},
	{`{"modules":{}}`, "modules can't be a JSON object"},
	{`{"modules":[{"versions":[{"version":1}]}]}`, "can't be a JSON number"},
	{`[]`, "it is a JSON array, not an object"},
	{`{"modules":[{"versions":[]}]} x`, "invalid character"},
	{``, "unexpected end"},
}

func TestDecodeVersions(t *testing.T) {
	for _, c := range versionsAnswers {
		must.Contain(t, fmt.Sprint(must.ErrorOf(decodeVersions([]byte(c.body)))), cmp.Or(c.err, "<nil>"), c.body)
	}
}

func TestRegistry_OnlyTheFirstModuleOfAnAnswerCounts(t *testing.T) {
	list := must.Get(decodeVersions([]byte(`{"modules":[{"versions":[{"version":"1.0.0"}]},{"versions":[{"version":"3.0.0"}]}]}`)))(t)
	must.Len(t, list.versions, 1)
	must.Equal(t, list.versions[0].String(), "1.0.0")
}

// askedURL is the URL of a request for a location.
var askedURL = &url.URL{Scheme: "https", Host: "api.example.com", Path: "/v1/modules/acme/net/cloud/1.0.0/download"}

// locations are answers of a registry, and what they mean: package and subdirectory, or an error
// with some words.
var locations = []struct{ header, pkg, subdir, err string }{
	{"https://dl.example.com/net.tgz", "https://dl.example.com/net.tgz", "", ""},
	{"https://dl.example.com/net.tgz//sub?archive=tgz", "https://dl.example.com/net.tgz?archive=tgz", "sub", ""},
	{"https://dl.example.com/net//*?archive=tar.gz", "https://dl.example.com/net?archive=tar.gz", "*", ""},
	{"git::https://git.example.com/net.git?ref=v1", "git::https://git.example.com/net.git?ref=v1", "", ""},
	{"github.com/acme/net?ref=v1", "git::https://github.com/acme/net.git?ref=v1", "", ""},
	{"github.com/acme/net/sub", "git::https://github.com/acme/net.git", "sub", ""},
	{"git@example.com:acme/net.git", "git::ssh://git@example.com/acme/net.git", "", ""},
	{"s3.amazonaws.com/bucket/net.zip", "s3::https://s3.amazonaws.com/bucket/net.zip", "", ""},
	{"/net.tgz", "https://api.example.com/net.tgz", "", ""},
	{"/net.tgz//sub/x", "https://api.example.com/net.tgz", "sub/x", ""},
	{"/net.tgz//..", "https://api.example.com/net.tgz/", "", ""},
	{"./net.tgz?a=b", "https://api.example.com/v1/modules/acme/net/cloud/1.0.0/net.tgz?a=b", "", ""},
	{"../../../../../../../../net.tgz", "https://api.example.com/net.tgz", "", ""},
	{"//dl.example.com/net.tgz", "https://dl.example.com/net.tgz", "", ""},
	{"", "", "", "names no location"},
	{" /net.tgz", "", "", "neither a URL"},
	{"net.tgz", "", "", "neither a URL"},
	{"/%zz?token=S3CRET", "", "", "no relative URL"},
	{"foo?token=S3CRET", "", "", "neither a URL"},
	{"https://x.example/%zz?token=S3CRET", "", "", "neither a URL"},
	{"git::https://me:S3CRET@x.example/%zz", "", "", "neither a URL"},
	{"git@example.com:a/b?token=%zzS3CRET", "", "", "malformed"},
	{"acme/net/cloud", "", "", "address of a package"},
	{"example.com/acme/net/cloud//sub", "", "", "address of a package"},
	{"https://x.example/net//../..", "", "", "outside"},
	{strings.Repeat("x", maxLocation+1), "", "", "bytes"},
}

func TestReadLocation(t *testing.T) {
	for _, c := range locations {
		remote, err := readLocation(c.header, askedURL)
		must.Contain(t, fmt.Sprint(err), cmp.Or(c.err, "<nil>"), c.header)
		must.NotContain(t, err, "S3CRET", c.header)
		must.Equal(t, remote, Remote{Package: c.pkg, Subdir: c.subdir}, c.header)
	}
}

func FuzzDecodeVersions(f *testing.F) {
	for _, c := range versionsAnswers {
		f.Add([]byte(c.body), "~> 1.0")
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
	for _, c := range locations {
		f.Add(c.header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		remote, err := readLocation(header, askedURL)
		if err != nil {
			return
		}
		must.Succeed(t, must.ErrorOf(parseLocation(remote.String())), header)
	})
}
