package modules

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRedact_MessagesHaveNoLogins(t *testing.T) {
	for source, want := range map[string]string{
		"./a":                        "./a",
		"localhost:8443/a/b/c":       "localhost:8443/a/b/c",
		"user:secret@x.example/r":    "//REDACTED@x.example/r",
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
		"git::https://user:secret@x.example/%zz":                              "git::https://REDACTED@x.example/%zz",
	} {
		must.Equal(t, Redact(source), want, source)
	}
	for _, source := range []string{"https://u:secret@h:port/net?x=secret", "git::u:secret@h", "://u:secret@h/%zz?token=secret", "u:secret/secret@h", "https://h/x?checksum=file%3Asecret"} {
		must.NotContain(t, Redact(source), "secret", source)
	}
	p := newProject(t, texts{
		"main.tf": call("a", "git::https://user:secret@x.example/r.git") + call("b", "git::https://user:secret@x.example/%zz") + call("c", "git::https://user:secret//x@h/r"),
	})
	_, problems := p.install()
	must.Len(t, problems, 3)
	for _, problem := range problems {
		must.NotContain(t, problem.Error()+problem.Detail, "secret", "a secret is shown", problem)
	}
}
