package modules

import (
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRedact_MessagesHaveNoLogins(t *testing.T) {
	for source, want := range map[string]string{
		"./a":                        "./a",
		"localhost:8443/a/b/c":       "localhost:8443/a/b/c",
		"user:secret@x.example/r":    "REDACTED@x.example/r",
		"localhost:1/r?token=secret": "localhost:1/r?token=REDACTED",
		"a/b/c":                      "a/b/c",
		"git::https://user:secret@x.example/r.git//sub?sshkey=secret":         "git::https://x.example/r.git//sub?sshkey=REDACTED",
		"https://secret@x.example/a.zip":                                      "https://x.example/a.zip",
		"git::https://u:secret@h/net.git?ref=v1&sshkey=secret":                "git::https://h/net.git?ref=v1&sshkey=REDACTED",
		"https://h/net.zip?archive=zip&X-Sig=secret":                          "https://h/net.zip?archive=zip&X-Sig=REDACTED",
		"https://h/net.zip?checksum=file:https://u:secret@h/sums&archive=zip": "https://h/net.zip?checksum=REDACTED&archive=zip",
		"https://h/net.zip?checksum=md5:0a":                                   "https://h/net.zip?checksum=md5:0a",
		"git::https://user:se/cret@x.example/r":                               "git::https://REDACTED@x.example/r",
		"https://h/net.zip?secret":                                            "https://h/net.zip?REDACTED",
		"file:///dir/net":                                                     "file:///dir/net",
		"/dir/net":                                                            "/dir/net",
		"git::https://user:secret@x.example/%zz":                              "git::https://REDACTED@x.example/%zz",
	} {
		must.Equal(t, Redact(source), want, source)
	}
	for _, source := range []string{"https://u:secret@h:port/net?x=secret", "git::u:secret@h", "://u:secret@h/%zz?token=secret", "u:secret/secret@h", "https://h/x?checksum=file%3Asecret"} {
		must.NotContain(t, Redact(source), "secret", source)
	}
}

// Errors quote parts of an address: none may be a part of a login.
func TestResolver_ErrorsHaveNoLogins(t *testing.T) {
	for i, source := range []string{
		"git::https://user:secret@x.example/r.git", "git::https://user:secret@x.example/%zz", "git::https://user:secret//x@h/r",
		"git::https://u:secret p@h.example/r", "git::https://u:secret?p@h.example/r", "git::https://u:secret%40h.example/r", "git::https://u:secret",
		"git::secret@github.com:a/b.git", "secret@github.com:a/b.git", "secret@dev.azure.com/o/_git/n", "http:/u:secret@h.example/m.zip",
		"u:secret@h.example/a/b/c", "secret@h.example/a/b/c", "secret@github.com/a/b", "github.com/u:secret@a/b", "github.com/u:secret/secret@a/b",
		"https//secret@h.example/m.zip", "https://h.example:x/m.zip?token=secret", "git@github.com:a/b?x=secret;y", "https://u:secret@h.example/a//../b",
		"https://h.example/m.zip?checksum=file:https://u:secret p@h/x", "s3::https://u:secret p@s3.amazonaws.com/x", "s3.amazonaws.com/u:secret p@x/%zz",
		"github.com/a/%zz?token=secret", "www.googleapis.com/storage/v1/u:secret@b/%zz",
	} {
		for _, version := range []string{"", "version = \"1.0.0\"\n"} {
			p := newProject(t, texts{"main.tf": fmt.Sprintf("module \"m\" {\n  source = %q\n  %s}\n", source, version)})
			_, problems := p.install()
			must.Len(t, problems, 1, i, source, version)
			for _, problem := range problems {
				must.NotContain(t, problem.Error()+problem.Detail, "secret", source, version)
			}
		}
	}
}
