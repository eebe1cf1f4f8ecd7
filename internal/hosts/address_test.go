package hosts

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// someHarmless are parameters that are shown.
var someHarmless = []string{"ref", "checksum", "archive"}

func TestRedactAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		// URLs.
		"https://h.example/m.zip":                                              "https://h.example/m.zip",
		"git::https://u:secret@h.example/r.git?ref=v1&x=secret":                "git::https://h.example/r.git?ref=v1&x=REDACTED",
		"https://secret@h.example/m.zip":                                       "https://h.example/m.zip",
		"https://h.example/m.zip?checksum=md5:0a":                              "https://h.example/m.zip?checksum=md5:0a",
		"https://h.example/m.zip?checksum=file:https://u:secret p@h.example/s": "https://h.example/m.zip?checksum=REDACTED",
		"https://h.example/m.zip?checksum=file%3Ahttps%3A%2F%2Fsecret%40h":     "https://h.example/m.zip?checksum=REDACTED",
		"https://h.example:8443/a@b/m.zip":                                     "https://h.example:8443/a@b/m.zip",
		"git::https://gitlab/a/b.git?ref=net@1.0":                              "git::https://gitlab/a/b.git?ref=net@1.0",
		"file:///dir/a@b": "file:///dir/a@b",

		// Users of ssh.
		"git::ssh://deploy@h.example:9022/r.git":    "git::ssh://deploy@h.example:9022/r.git",
		"ssh://deploy:secret@h.example/r":           "ssh://deploy@h.example/r",
		"git+ssh://deploy:secret@h.example/r":       "git+ssh://deploy@h.example/r",
		"ssh://git@h.example:owner/r.git":           "ssh://git@h.example:owner/r.git",
		"ssh://deploy:secret secret@h.example/r":    "ssh://deploy@h.example/r",
		"ssh://deploy:sec/secret@h.example/r":       "ssh://deploy@h.example/r",
		"ssh://secret/secret@h.example/r":           "ssh://REDACTED@h.example/r",
		"git@h.example:owner/r.git?ref=net@1.0&x=y": "git@h.example:owner/r.git?ref=net@1.0&x=REDACTED",
		"git::git@h.example:owner/r.git":            "git::git@h.example:owner/r.git",
		"git@h.example/owner/r.git":                 "git@h.example/owner/r.git",
		"git::secret@h.example:owner/r.git":         "git::REDACTED@h.example:owner/r.git",
		"secret@h.example:owner/r.git":              "REDACTED@h.example:owner/r.git",
		"git@h.example:secret@h.example/r":          "REDACTED@h.example/r",

		// Passwords that can't be parsed.
		"git::https://u:secret p@h.example/r":    "git::https://REDACTED@h.example/r",
		"git::https://u:secret\tp@h.example/r":   "git::https://REDACTED@h.example/r",
		"git::https://u:secret?p@h.example/r":    "git::https://REDACTED@h.example/r",
		"git::https://u:secret#p@h.example/r":    "git::https://REDACTED@h.example/r",
		"git::https://u:secret/p@h.example/r":    "git::https://REDACTED@h.example/r",
		"git::https://u:secret//p@h.example/r":   "git::https://REDACTED@h.example/r",
		"git::https://u:secret%zz@h.example/r":   "git::https://REDACTED@h.example/r",
		"git::https://u:secret%40h.example/r":    "git::https://REDACTED@h.example/r",
		"git::https://u:secret/r":                "git::https://REDACTED/r",
		"git::https://u.v:s/secret@h.example/r":  "git::https://REDACTED@h.example/r",
		"https://u:secret@h.example:port/r":      "https://REDACTED@h.example:port/r",
		"https://u:secret@[h.example/r?x=secret": "https://REDACTED@[h.example/r?x=REDACTED",

		// Passwords that something else was parsed as.
		"https://u:12/secret@h.example/r": "https://REDACTED@h.example/r",
		"https://u:12?secret@h.example/r": "https://REDACTED@h.example/r",
		"https://u:12#secret@h.example/r": "https://REDACTED@h.example/r",
		"https://secret/12@h.example/r":   "https://REDACTED@h.example/r",

		// Too few or too many slashes and colons, and other mistakes.
		"http:/u:secret@h.example/m.zip":               "http:/REDACTED@h.example/m.zip",
		"https:/secret@h.example/m.zip":                "https:/REDACTED@h.example/m.zip",
		"https:///u:secret@h.example/m.zip":            "https:///REDACTED@h.example/m.zip",
		"https:u:secret@h.example/m.zip":               "https:REDACTED@h.example/m.zip",
		`https:\\secret@h.example\m.zip`:               `https:\\REDACTED@h.example\m.zip`,
		"https//u:secret@h.example/m.zip":              "REDACTED@h.example/m.zip",
		"https//secret@host/m.zip":                     "REDACTED@host/m.zip",
		"://u:secret@h.example/m.zip":                  "://REDACTED@h.example/m.zip",
		"//u:secret@h.example/m.zip":                   "//REDACTED@h.example/m.zip",
		"foo://u:secret p@h.example/m.zip":             "foo://REDACTED@h.example/m.zip",
		"secret@dev.azure.com/o/_git/n":                "REDACTED@dev.azure.com/o/_git/n",
		"git::secret@dev.azure.com/o/_git/n":           "git::REDACTED@dev.azure.com/o/_git/n",
		"secret/secret@dev.azure.com/o/_git/n":         "REDACTED@dev.azure.com/o/_git/n",
		"u:secret/secret@h.example/r":                  "REDACTED@h.example/r",
		"git::u:secret@h.example/r":                    "git::REDACTED@h.example/r",
		"git:https://u:secret@h.example/r":             "git:REDACTED@h.example/r",
		"git::git::https://u:secret@h.example/r":       "git::git::https://h.example/r",
		"git::https://github.com/u:secret@a/b":         "git::https://github.com/REDACTED@a/b",
		"git::https://github.com/u:secret/secret@a//b": "git::https://github.com/REDACTED@a//b",
		"h.example:x/m.zip?token=secret":               "h.example:x/m.zip?token=REDACTED",

		// What has no login is shown as it is.
		"./a@b":                    "./a@b",
		"/srv/a:b@c/d":             "/srv/a:b@c/d",
		"acme/net/aws@1.0.0":       "acme/net/aws@1.0.0",
		"acme/net/aws//a@b":        "REDACTED@b", // but this could be one
		"github.com/a/b@v1.x/c":    "github.com/a/b@v1.x/c",
		"github.com/a/b?ref=c@1.0": "github.com/a/b?ref=c@1.0",
		"localhost:8443/a/b/c":     "localhost:8443/a/b/c",
		"https://github.com:a/b":   "https://github.com:a/b",
		"":                         "",
	} {
		must.Equal(t, RedactAddress(address, someHarmless...), want, address)
	}
}

func FuzzRedactAddress(f *testing.F) {
	for _, address := range []string{"git::https://u:p@h/r?x=y", "git@h:r", "https:/u:p@h", "a/b@c", "ssh://u:p q@h", "u:%40", "https://u:%zz@h#@?="} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		RedactAddress(address, someHarmless...)

		// Whatever a password has, it isn't shown. With "@" and "/" in it, it may be a host with a path.
		if hasAtSign(address) {
			return
		}
		for _, before := range []string{"https://u:", "git::https://u:", "http:/u:", "git::u:"} {
			with := before + address + "Hidden" + address + "@h.example/r"
			if shown := RedactAddress(with, someHarmless...); strings.Contains(shown, "Hidden") {
				t.Errorf("%q is shown as %q", with, shown)
			}
		}
	})
}
