package hosts

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// tokens are Credentials in memory.
type tokens map[Hostname]string

func (c tokens) Token(_ context.Context, host Hostname) (string, error) { return c[host], nil }

// noTokens are Credentials that fail.
type noTokens struct{ err error }

func (c noTokens) Token(context.Context, Hostname) (string, error) { return "", c.err }

func TestAuthorize(t *testing.T) {
	known := tokens{"example.com": "hunter2", "example.com:8443": "hunter3"}
	for name, tc := range map[string]struct {
		credentials Credentials
		host        Hostname
		target      string
		want        string
	}{
		"its own host":            {known, "example.com", "https://example.com/", "Bearer hunter2"},
		"a service of it":         {known, "example.com", "https://api.example.org:1/", "Bearer hunter2"},
		"a service on loopback":   {known, "example.com", "http://localhost:8080/", "Bearer hunter2"},
		"another port":            {known, "example.com:8443", "https://example.com:8443/", "Bearer hunter3"},
		"never over plain http":   {known, "example.com", "http://example.com/", ""},
		"an unknown host":         {known, "other.example", "https://example.com/", ""},
		"no credentials":          {nil, "example.com", "https://example.com/", ""},
		"plain http, failing too": {noTokens{errors.New("no")}, "example.com", "http://example.com/", ""},
	} {
		header := http.Header{}
		must.Equal(t, Authorize(t.Context(), tc.credentials, tc.host, mustURL(t, tc.target), header), nil, name)
		must.Equal(t, header.Get("Authorization"), tc.want, name)
	}
	broken := errors.New("exit status 1")
	err := Authorize(t.Context(), noTokens{broken}, "example.com", mustURL(t, "https://example.com/"), http.Header{})
	must.Fail(t, err, broken)
	must.Equal(t, err.Error(), "failed to retrieve credentials for example.com: exit status 1")
}

func TestTokenVariable(t *testing.T) {
	for host, want := range map[Hostname]string{
		"registry.example.com":  "TF_TOKEN_registry_example_com",
		"my-registry.example":   "TF_TOKEN_my__registry_example",
		"xn--bcher-kva.example": "TF_TOKEN_xn____bcher__kva_example",
		"localhost":             "TF_TOKEN_localhost",
		"localhost:8443":        "",
	} {
		must.Equal(t, TokenVariable(host), want, host)
	}
}

func TestDiscovery_SendsCredentials(t *testing.T) {
	var got recorder
	for name, tc := range map[string]struct {
		credentials Credentials
		want        string
	}{
		"its own":           {tokens{"example.com:8443": "hunter2", "example.com": "hunter3"}, "Bearer hunter2"},
		"of another port":   {tokens{"example.com": "hunter3"}, ""},
		"a helper that can": {noTokens{nil}, ""},
		"one that fails":    {noTokens{errors.New("exit status 1")}, ""},
		"none":              {nil, ""},
	} {
		got.reset()
		d := discovering(func(req *http.Request) *http.Response {
			got.add(req.Header.Get("Authorization"))
			return jsonAnswer(req, `{"providers.v1":"/p/"}`)
		})
		d.Credentials = tc.credentials
		must.Get(d.Service(t.Context(), "example.com:8443", "providers.v1"))(t)
		must.Equal(t, got.all(), tc.want, "sent", name)
	}
}

func TestDiscovery_TellsHowItWasRefused(t *testing.T) {
	for host, authorized := range map[Hostname]bool{"example.com": true, "example.org": false} {
		d := discovering(func(req *http.Request) *http.Response { return answer(req, 401) })
		d.Credentials = tokens{"example.com": "hunter2"}
		_, err := d.Service(t.Context(), host, "providers.v1")
		must.Fail(t, err, ErrUnauthorized)
		must.Equal(t, must.As[*Refusal](t, err).Sent, authorized)
		must.NotContain(t, err, "hunter2")
	}
}

// TestDiscovery_TrustsNoDocumentOverPlainHTTP: the document decides where the token is sent.
func TestDiscovery_TrustsNoDocumentOverPlainHTTP(t *testing.T) {
	ways := map[string]string{ // where each of them redirects to
		"https://good.example/.well-known/terraform.json":  "https://cdn.example/doc.json",
		"https://plain.example/.well-known/terraform.json": "http://cdn.example/doc.json",
		"https://mixed.example/.well-known/terraform.json": "http://cdn.example/back",
		"http://cdn.example/back":                          "https://cdn.example/doc.json",
	}
	opts := quick(0, replies(func(req *http.Request) *http.Response {
		if to := ways[req.URL.String()]; to != "" {
			return answer(req, 302, "Location", to)
		}
		must.Equal(t, req.Header.Get("Authorization"), "", req.URL)
		return jsonAnswer(req, `{"providers.v1":"https://api.example/"}`)
	}))
	for host, safe := range map[Hostname]bool{"good.example": true, "plain.example": false, "mixed.example": false} {
		for _, credentials := range []Credentials{nil, tokens{host: "hunter2"}, noTokens{errors.New("exit status 1")}} {
			d := &Discovery{Client: newClient(t, opts), Credentials: credentials}
			_, err := d.Service(t.Context(), host, "providers.v1")
			must.Equal(t, safe, err == nil, host, credentials)
			if !safe {
				must.Fail(t, err, ErrDiscoveryDocument, host)
				must.Contain(t, err, "plain http", host)
			}
		}
	}
}

func TestCredentials_DoNotComeBackWithARedirect(t *testing.T) {
	ways := map[string]string{
		"https://a.example/":       "https://a.example:8443/",
		"https://a.example:8443/":  "https://a.example/secret",
		"https://b.example/":       "https://b.example:443/secret",
		"https://c.example/":       "http://c.example/",
		"http://c.example/":        "https://c.example/secret",
		"https://d.example/":       "https://sub.d.example/",
		"https://sub.d.example/":   "https://d.example/secret",
		"https://a.example/secret": "", "https://b.example:443/secret": "",
	}
	var got recorder
	client := asking(t, 0, func(req *http.Request) *http.Response {
		if req.Header.Get("Authorization") != "" {
			got.add(req.URL.String())
		}
		return onward(req, ways)
	})
	for first, want := range map[string]string{
		"https://a.example/": "https://a.example/",
		"https://b.example/": "https://b.example/ https://b.example:443/secret",
		"https://c.example/": "https://c.example/",
		"https://d.example/": "https://d.example/",
	} {
		got.reset()
		req := get(t, first)
		req.Header.Set("Authorization", "Bearer hunter2")
		closed(t)(Do(client, req))
		must.Equal(t, got.all(), want, first)
	}
}
