package hosts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestEnvTokens(t *testing.T) {
	for given, want := range map[string]string{ // variables, with | between them, and the host
		" => example.com": "unknown", // none
		"TF_TOKEN_registry_example_com=x => registry.example.com":                                         "x",       // underscores
		"TF_TOKEN_my__registry_example_com=x => my-registry.example.com":                                  "x",       // dashes
		"TF_TOKEN_my-registry.example.com=x => my-registry.example.com":                                   "x",       // literal dots and dashes
		"TF_TOKEN_my___example_com=x => my.-example.com":                                                  "unknown", // three underscores
		"TF_TOKEN_abc____d_com=x => abc--d.com":                                                           "x",       // four underscores
		"TF_TOKEN_Example_COM=x => example.com":                                                           "x",       // capitals
		"tf_token_example_com=x => example.com":                                                           "unknown", // prefix in small letters
		"XTF_TOKEN_example_com=x => example.com":                                                          "unknown", // no prefix
		"TF_TOKEN_localhost=x => localhost":                                                               "x",       // one label
		"TF_TOKEN_localhost:8443=x => localhost:8443":                                                     "x",       // port
		"TF_TOKEN_example_com:443=x => example.com":                                                       "x",       // default port
		"TF_TOKEN_localhost=x => localhost:8443":                                                          "unknown", // a port is another host
		"TF_TOKEN_example_com:=x => example.com":                                                          "unknown", // no port after the colon
		"TF_TOKEN_bücher_example=x => xn--bcher-kva.example":                                              "x",       // Unicode
		"TF_TOKEN_xn--bcher-kva_example=x => xn--bcher-kva.example":                                       "x",       // punycode
		"TF_TOKEN_xn____bcher__kva_example=x => xn--bcher-kva.example":                                    "x",       // punycode with underscores
		"TF_TOKEN_xn--bcher-kva_example:8443=x => xn--bcher-kva.example:8443":                             "x",       // punycode with port
		"TF_TOKEN_xn--a=x => xn--a":                                                                       "unknown", // invalid punycode
		"TF_TOKEN_example_com=x|TF_TOKEN_Example.com=y => example.com":                                    "y",       // the last one counts
		"TF_TOKEN_example_com= => example.com":                                                            "",        // empty
		"TF_TOKEN_example_com=x=y== => example.com":                                                       "x=y==",   // equals signs in the token
		"|=|=C:=C:\\|TF_TOKEN_|TF_TOKEN_=x|TF_TOKEN_a b=x|TF_TOKEN__=x|TF_TOKEN_\xff=x|TF_TOKEN_::=x => ": "unknown", // odd entries
	} {
		environ, name, _ := strings.Cut(given, " => ")
		host := Hostname(name)
		must.Equal(t, must.Get(FirstOf(EnvTokens(strings.Split(environ, "|")), NewStaticTokens(map[Hostname]string{host: "unknown"})).Token(t.Context(), host))(t, given), want, given)
	}
}

func TestTokenVariable_IsReadBack(t *testing.T) {
	for _, host := range []Hostname{"example.com", "my-registry.example.com", "a--b.example", "xn--bcher-kva.example", "localhost"} {
		must.Equal(t, must.Get(EnvTokens([]string{TokenVariable(host) + "=x"}).Token(t.Context(), host))(t), "x", host, TokenVariable(host))
	}
}

func TestTokenHost_KnowsOtherVariables(t *testing.T) {
	for variable, want := range map[string]Hostname{"TF_TOKEN_my__host_example": "my-host.example", "TF_TOKEN_": "", "TF_TOKENS_example_com": "", "example_com": ""} {
		host, ok := TokenHost(variable)
		must.Equal(t, host, want, variable)
		must.Equal(t, ok, want != "", variable)
	}
}

func FuzzEnvTokens(f *testing.F) {
	for _, seed := range []string{"example_com", "my__registry_example_com", "xn--bcher-kva_example", "localhost:8443", "bücher_example", ":", "\xff", "xn--", "a:1:2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, suffix string) {
		host, ok := TokenHost("TF_TOKEN_" + suffix)
		if !ok {
			return
		}
		must.Equal(t, must.Get(ParseHostname(host.String()))(t), host, suffix)
	})
}

// asked are Credentials defined by a program.
type asked struct {
	token string
	err   error
	times int
}

func (a *asked) Token(context.Context, Hostname) (string, error) {
	a.times++
	return a.token, a.err
}

func TestFirstOf(t *testing.T) {
	broken := errors.New("broken")
	known := NewStaticTokens(map[Hostname]string{"example.com": "static"})
	empty := NewStaticTokens(map[Hostname]string{"example.com": ""})
	var noTokens *Tokens
	own, none, failing := &asked{token: "x"}, &asked{}, &asked{err: broken}
	type chain = []Credentials
	for _, tc := range []struct {
		name  string
		chain chain
		want  string
		err   error
		times int // that own, none and failing are asked
	}{
		{"nobody", nil, "", nil, 0},
		{"first", chain{known, own}, "static", nil, 0},
		{"second", chain{NewStaticTokens(nil), own}, "x", nil, 1},
		{"empty ends the search", chain{empty, own}, "", nil, 0},
		{"nil ones", chain{nil, noTokens, new(Tokens), own}, "x", nil, 1},
		{"it isn't known", chain{none, none}, "", nil, 2},
		{"an error ends the search", chain{failing, known}, "", broken, 1},
		{"nested", chain{FirstOf(empty), own}, "", nil, 0},
	} {
		own.times, none.times, failing.times = 0, 0, 0
		got, err := FirstOf(tc.chain...).Token(t.Context(), "example.com")
		must.Equal(t, got, tc.want, tc.name)
		must.Fail(t, err, tc.err, tc.name)
		must.Equal(t, own.times+none.times+failing.times, tc.times, tc.name)
	}
	must.Equal(t, must.Get(noTokens.Token(t.Context(), "example.com"))(t), "")
}

func TestStaticTokens_AreACopy(t *testing.T) {
	given := map[Hostname]string{"example.com": "x"}
	s := NewStaticTokens(given)
	given["example.com"] = "y"
	token, _ := s.Token(t.Context(), "example.com")
	must.Equal(t, token, "x")
}

// mustConceal prints a value, and values that contain it, in every way.
func mustConceal(t *testing.T, value any, secret string) {
	t.Helper()
	var log strings.Builder
	for _, outer := range []any{
		value, []any{value}, map[string]any{"x": value}, struct{ Field any }{value}, struct{ field any }{value}, &struct{ field any }{value},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p"} {
			fmt.Fprintf(&log, verb+"\n", outer)
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "value", outer)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "value", outer)
	}
	for _, text := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), fmt.Sprint([]byte(secret))} {
		if i := strings.Index(log.String(), text); i >= 0 {
			t.Errorf("%T shows its secret: ...%s", value, log.String()[max(0, i-100):i+len(text)])
		}
	}
}

func TestTokens_AreNeverPrinted(t *testing.T) {
	const secret = "tHisIsTheT0ken"
	static := NewStaticTokens(map[Hostname]string{"example.com": secret})
	for _, c := range []Credentials{static, EnvTokens([]string{"TF_TOKEN_example_com=" + secret}), FirstOf(static), FirstOf(FirstOf(static))} {
		must.Equal(t, must.Get(c.Token(t.Context(), "example.com"))(t), secret)
		mustConceal(t, c, secret)
		mustConceal(t, &Discovery{Credentials: c}, secret)
		mustConceal(t, WithArchiveCredentials(http.DefaultClient, c), secret)
	}
	mustConceal(t, *static, secret)
	must.Equal(t, fmt.Sprint(static), "secrets (not shown)")
}
