package sources

import "testing"

func TestRedacted_HasNoSecret(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"oci://user:secret1@host.example/${namespace}/${type}":   "oci://host.example/${namespace}/${type}",
		"oci://user:sec/ret@1@host.example:5000/a?token=secret1": "oci://host.example:5000/a",
		"oci://host.example/${namespace}/${type}":                "oci://host.example/${namespace}/${type}",
		"https://user:secret1@host.example/a?token=secret1":      "https://host.example/a",
		"s3://bucket/prefix":                    "s3://bucket/prefix",
		"https://user:secret1@host.example:x/a": "of a URL that can't be read",
		"a/directory":                           "a/directory",
	} {
		if got := redacted(location); got != want {
			t.Errorf("%s is shown as %s, want %s", location, got, want)
		}
	}
}
