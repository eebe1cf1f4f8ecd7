package places

import (
	"errors"
	"testing"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRedacted_HasNoSecret(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"oci://user:secret1@host.example/${namespace}/${type}":   "oci://host.example/${namespace}/${type}",
		"oci://user:sec/ret@1@host.example:5000/a?token=secret1": "oci://host.example:5000/a",
		"oci://host.example/${namespace}/${type}":                "oci://host.example/${namespace}/${type}",
		"https://user:secret1@host.example/a?token=secret1":      "https://host.example/a",
		"https://host.example/a#secret1":                         "https://host.example/a",
		"s3://bucket/prefix":                                     "s3://bucket/prefix",
		"https://user:secret1@host.example:x/a":                  "of a URL that can't be read",
		"a/directory":                                            "a/directory",
		"/a:b@c/directory":                                       "/a:b@c/directory",
		"https:/user:secret1@host.example/a":                     "https:/REDACTED@host.example/a",
		"user:secret1@host.example/a":                            "REDACTED@host.example/a",
	} {
		must.Equal(t, Redacted(location), want, location)
	}
}

func TestSame_KnowsOneMirrorInSeveralSpellings(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"s3://bucket/prefix", "S3://Bucket/prefix/?region=eu-west-1", true},
		{"s3://bucket/prefix", "s3://bucket/Prefix", false},
		{"s3://bucket/prefix", "s3://bucket/prefix/more", false},
		{"s3://bucket/prefix", "gs://bucket/prefix", false},
		{"s3://bucket?endpoint=https://a.example", "s3://bucket/?path-style=true&endpoint=https://a.example/", true},
		{"s3://bucket?endpoint=https://a.example", "s3://bucket", false},
		{"oci://host.example/a/${namespace}/${type}", "oci://user:password@host.example/a/${namespace}/${type}", true},
		{"oci://host.example/a/${namespace}/${type}", "oci://host.example/b/${namespace}/${type}", false},
		{"https://host.example/a", "https://host.example/a/", true},
		{".", dir, true},
		{"new/", "./new", true},
		{"new", "old", false},
		{"new", "s3://new", false},
	} {
		must.Equal(t, Same(c.a, c.b), c.want, c.a, c.b)
		must.Equal(t, Same(c.b, c.a), c.want, c.b, c.a)
	}
}

func TestDirectory_EndsWithASlash(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"https://host.example":       "https://host.example/",
		"https://host.example/a":     "https://host.example/a/",
		"https://host.example/a/":    "https://host.example/a/",
		"https://host.example/a%2fb": "https://host.example/a%2fb/",
		"https://host.example/a?b=c": "https://host.example/a/?b=c",
		"https://host.example:x/a":   "https://host.example:x/a",
	} {
		must.Equal(t, directory(location), want, location)
	}
}

// An offline source returns the packages on this machine.
func TestMirror_IsNotAskedWithoutANetwork(t *testing.T) {
	t.Parallel()
	h := Hosts{Network: cliconfig.Network{OfflineBy: "-offline"}}
	single := cliconfig.SourceOptions{Cached: func(getproviders.Provider) []getproviders.CachedPackage { return nil }}
	source, _, err := h.Mirror(t.Context(), single, "OCI://host.example/${namespace}/${type}")
	must.Succeed(t, err)
	_, err = source.Versions(t.Context(), getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "aaa"})
	missing, ok := errors.AsType[*getproviders.NotCachedError](err)
	must.Equal(t, ok && missing.By == "-offline", true, err)
}
