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
	for _, tc := range []struct {
		name    string
		environ []string
		host    Hostname
		want    string
	}{
		{"none", nil, "example.com", "unknown"},
		{"underscores", []string{"TF_TOKEN_registry_example_com=x"}, "registry.example.com", "x"},
		{"dashes", []string{"TF_TOKEN_my__registry_example_com=x"}, "my-registry.example.com", "x"},
		{"literal dots and dashes", []string{"TF_TOKEN_my-registry.example.com=x"}, "my-registry.example.com", "x"},
		{"three underscores", []string{"TF_TOKEN_my___example_com=x"}, "my.-example.com", "unknown"},
		{"four underscores", []string{"TF_TOKEN_abc____d_com=x"}, "abc--d.com", "x"},
		{"capitals", []string{"TF_TOKEN_Example_COM=x"}, "example.com", "x"},
		{"prefix in small letters", []string{"tf_token_example_com=x"}, "example.com", "unknown"},
		{"no prefix", []string{"XTF_TOKEN_example_com=x"}, "example.com", "unknown"},
		{"one label", []string{"TF_TOKEN_localhost=x"}, "localhost", "x"},
		{"port", []string{"TF_TOKEN_localhost:8443=x"}, "localhost:8443", "x"},
		{"default port", []string{"TF_TOKEN_example_com:443=x"}, "example.com", "x"},
		{"a port is another host", []string{"TF_TOKEN_localhost=x"}, "localhost:8443", "unknown"},
		{"no port after the colon", []string{"TF_TOKEN_example_com:=x"}, "example.com", "unknown"},
		{"Unicode", []string{"TF_TOKEN_bücher_example=x"}, "xn--bcher-kva.example", "x"},
		{"punycode", []string{"TF_TOKEN_xn--bcher-kva_example=x"}, "xn--bcher-kva.example", "x"},
		{"punycode with underscores", []string{"TF_TOKEN_xn____bcher__kva_example=x"}, "xn--bcher-kva.example", "x"},
		{"punycode with port", []string{"TF_TOKEN_xn--bcher-kva_example:8443=x"}, "xn--bcher-kva.example:8443", "x"},
		{"invalid punycode", []string{"TF_TOKEN_xn--a=x"}, "xn--a", "unknown"},
		{"the last one counts", []string{"TF_TOKEN_example_com=x", "TF_TOKEN_Example.com=y"}, "example.com", "y"},
		{"empty", []string{"TF_TOKEN_example_com="}, "example.com", ""},
		{"equals signs in the token", []string{"TF_TOKEN_example_com=x=y=="}, "example.com", "x=y=="},
		{"odd entries", []string{"", "=", "=C:=C:\\", "TF_TOKEN_", "TF_TOKEN_=x", "TF_TOKEN_a b=x", "TF_TOKEN__=x", "TF_TOKEN_\xff=x", "TF_TOKEN_::=x"}, "", "unknown"},
	} {
		must.Equal(t, must.Get(FirstOf(EnvTokens(tc.environ), NewStaticTokens(map[Hostname]string{tc.host: "unknown"})).Token(t.Context(), tc.host))(t, tc.name), tc.want, tc.name)
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

// asked are credentials that a program brings along.
type asked struct {
	token string
	err   error
	times *int
}

func (a asked) Token(context.Context, Hostname) (string, error) {
	*a.times++
	return a.token, a.err
}

func TestFirstOf(t *testing.T) {
	broken := errors.New("broken")
	known := NewStaticTokens(map[Hostname]string{"example.com": "static"})
	empty := NewStaticTokens(map[Hostname]string{"example.com": ""})
	var noTokens *Tokens
	var noHelper *Tokens
	for _, tc := range []struct {
		name  string
		chain func(asked) []Credentials
		last  asked
		want  string
		err   error
		times int
	}{
		{"nobody", func(asked) []Credentials { return nil }, asked{}, "", nil, 0},
		{"first", func(a asked) []Credentials { return []Credentials{known, a} }, asked{token: "x"}, "static", nil, 0},
		{"second", func(a asked) []Credentials { return []Credentials{NewStaticTokens(nil), a} }, asked{token: "x"}, "x", nil, 1},
		{"empty ends the search", func(a asked) []Credentials { return []Credentials{empty, a} }, asked{token: "x"}, "", nil, 0},
		{"nil ones", func(a asked) []Credentials { return []Credentials{nil, noTokens, noHelper, new(Tokens), a} }, asked{token: "x"}, "x", nil, 1},
		{"it isn't known", func(a asked) []Credentials { return []Credentials{a, a} }, asked{}, "", nil, 2},
		{"an error ends the search", func(a asked) []Credentials { return []Credentials{a, known} }, asked{err: broken}, "", broken, 1},
		{"nested", func(a asked) []Credentials { return []Credentials{FirstOf(empty), a} }, asked{token: "x"}, "", nil, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.last.times = new(int)
			got, err := FirstOf(tc.chain(tc.last)...).Token(t.Context(), "example.com")
			must.Equal(t, got, tc.want)
			must.Fail(t, err, tc.err)
			must.Equal(t, *tc.last.times, tc.times)
		})
	}
	for _, nobody := range []Credentials{noTokens, noHelper} {
		must.Equal(t, must.Get(nobody.Token(t.Context(), "example.com"))(t), "")
	}
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
