package hosts

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// hostOf returns the name of a test server as a host.
func hostOf(t testing.TB, srv *httptest.Server) Hostname {
	t.Helper()
	return must.Get(ParseHostname(strings.TrimPrefix(srv.URL, "https://")))(t)
}

func document(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, body)
}

// discover requests providers.v1 from a server with this handler.
func discover(t *testing.T, opts ClientOptions, h http.HandlerFunc) (*url.URL, *httptest.Server, error) {
	t.Helper()
	srv := startTLS(t, h)
	d := &Discovery{Client: clientFor(t, srv, opts)}
	u, err := d.Service(t.Context(), hostOf(t, srv), "providers.v1")
	return u, srv, err
}

func TestDiscovery_AsksAgainWhenAnswersAreOld(t *testing.T) {
	for _, c := range []struct {
		maxAge, passed time.Duration
		want           int
	}{
		{0, 14 * time.Minute, 1}, {0, 16 * time.Minute, 2}, {time.Hour, 16 * time.Minute, 1}, {-1, 1000 * time.Hour, 1},
	} {
		asked := 0
		synctest.Test(t, func(t *testing.T) {
			d := discovering(func(req *http.Request) *http.Response {
				asked++
				return answer(req, 404)
			})
			d.MaxAge = c.maxAge
			for range 2 {
				must.Fail(t, must.ErrorOf(d.Service(t.Context(), "example.com", "providers.v1")), ErrNoService)
				time.Sleep(c.passed)
			}
		})
		must.Equal(t, asked, c.want, c.maxAge, c.passed)
	}
}

func TestDiscovery_FindsTheService(t *testing.T) {
	for body, want := range map[string]string{
		`{"providers.v1":"https://registry.example.com/v1/providers/"}`: "https://registry.example.com/v1/providers/",
		`{"providers.v1":"http://localhost:8080/"}`:                     "http://localhost:8080/", // plain http on this machine
		`{"providers.v1":"/v1/providers/"}`:                             "https://example.com/v1/providers/",
		`{"providers.v1":"providers/"}`:                                 "https://example.com/.well-known/providers/",
		`{"providers.v1":"/v1/providers"}`:                              "https://example.com/v1/providers",
		`{"providers.v1":"//other.example.com/p/"}`:                     "https://other.example.com/p/", // relative to the scheme
		`{"providers.v1":""}`:                                           "https://example.com/.well-known/terraform.json",
		`{"providers.v1":"/p/?tenant=1"}`:                               "https://example.com/p/?tenant=1",
		`{"providers.v1":"https://registry.example.com/#a%20b"}`:        "https://registry.example.com/",
		`{"a":1,"b":null,"modules.v1":{},"":[],"providers.v1":"/p/"}`:   "https://example.com/p/",
		`{"providers.v1":"/p/","providers.v1":"/q/"}`:                   "https://example.com/q/", // twice: the last one
	} {
		d := discovering(func(req *http.Request) *http.Response {
			must.Equal(t, req.Method+" "+req.URL.String()+" "+req.Header.Get("Accept"), "GET https://example.com/.well-known/terraform.json application/json")
			return jsonAnswer(req, body)
		})
		must.Equal(t, must.Get(d.Service(t.Context(), "example.com", "providers.v1"))(t, body).String(), want, body)
	}
}

func TestDiscovery_Errors(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	body := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { document(w, text) }
	}
	mediaType := func(text ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = text
			io.WriteString(w, `{"providers.v1":"/p/"}`)
		}
	}
	for _, tc := range []struct {
		name string
		h    http.HandlerFunc
		kind error
		text string // HOST stands for the host
	}{
		{"no document", status(404), ErrNoService, "host HOST does not offer the service providers.v1"},
		{"no services", body(`{}`), ErrNoService, "host HOST does not offer the service providers.v1"},
		{"no such service", body(`{"modules.v1":"/","providersx.v1":"/"}`), ErrNoService, "host HOST does not offer"},
		{"other versions", body(`{"providers.v3":"/","providers.v2":"/","providers.\u001b[31m":"/"}`), ErrServiceVersion,
			"host HOST does not offer the service providers.v1 (only providers.v2, providers.v3), but may be compatible with a different Terraform version"},
		{"other versions with odd names", body(`{"providers.next":"/"}`), ErrServiceVersion,
			"host HOST does not offer the service providers.v1, but may be compatible with a different Terraform version"},
		{"not a string", body(`{"providers.v1":{"url":"/"}}`), ErrServiceVersion,
			"host HOST does not offer the service providers.v1 (its URL is not a string), but may be compatible"},
		{"null", body(`{"providers.v1":null}`), ErrServiceVersion, "(its URL is not a string)"},
		{"unsupported scheme", body(`{"providers.v1":"ftp://example.com/"}`), ErrDiscoveryDocument,
			`host HOST has an invalid discovery document: the URL of providers.v1 can't be used: unsupported scheme "ftp"`},
		{"plain http", body(`{"providers.v1":"http://registry.example.com/"}`), ErrDiscoveryDocument,
			"host HOST has an invalid discovery document: the URL of providers.v1 can't be used: it is at plain http"},
		{"userinfo", body(`{"providers.v1":"https://me:secret@example.com/"}`), ErrDiscoveryDocument, "embedded username or password"},
		{"no host", body(`{"providers.v1":"https:providers"}`), ErrDiscoveryDocument, "it names no host"},
		{"invalid URL", body(`{"providers.v1":"https://me:secret@example.com/%zz"}`), ErrDiscoveryDocument, `invalid URL escape "%zz"`},
		{"not JSON", body(`<html>`), ErrDiscoveryDocument, "host HOST has an invalid discovery document: not a JSON object: invalid character"},
		{"byte order mark", body("\ufeff{}"), ErrDiscoveryDocument, "not a JSON object"},
		{"something after it", body(`{} x`), ErrDiscoveryDocument, "not a JSON object"},
		{"a list", body(`[]`), ErrDiscoveryDocument, "not a JSON object"},
		{"only null", body(`null`), ErrDiscoveryDocument, "not a JSON object: it is null"},
		{"empty body", body(``), ErrDiscoveryDocument, "not a JSON object"},
		{"too large", body(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`), ErrDiscoveryDocument, "the response is larger than 1048576 bytes"},
		{"other media type", mediaType("text/plain"), ErrDiscoveryDocument, `unsupported Content-Type "text/plain" instead of "application/json"`},
		{"no media type", mediaType(), ErrDiscoveryDocument, `malformed Content-Type ""`},
		{"server error", status(503), ErrHostUnreachable,
			"could not connect to HOST: failed to request discovery document: the request failed after 4 attempts, please try again later: 503 Service Unavailable"},
		{"no content", status(204), ErrHostUnreachable, "could not connect to HOST: failed to request discovery document: 204 No Content"},
		{"no token", status(401), ErrUnauthorized, "could not connect to HOST: failed to request discovery document: 401 Unauthorized"},
		{"forbidden", status(403), ErrUnauthorized, "403 Forbidden"},
		{"connection closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ErrHostUnreachable,
			`could not connect to HOST: failed to request discovery document: the request failed after 4 attempts, please try again later: Get "https://HOST/.well-known/terraform.json": `},
		{"redirect to nowhere", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "ftp://example.com/", 302) }, ErrHostUnreachable, "unsupported protocol scheme"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, srv, err := discover(t, quick(1), tc.h)
			host := strings.TrimPrefix(srv.URL, "https://")
			failed := must.As[*Fault](t, err)
			if failed.Host.ASCII() != host || !errors.Is(err, tc.kind) || failed.Code() == "" || tc.kind == ErrUnauthorized && errors.Is(err, ErrHostUnreachable) {
				t.Errorf("got %#v", failed)
			}
			must.Contain(t, err.Error(), strings.ReplaceAll(tc.text, "HOST", host))
			must.NotContain(t, err.Error(), "secret", "not fit to be shown")
			must.NotContain(t, err.Error(), "\x1b", "not fit to be shown")
		})
	}
}

func TestDiscovery_AcceptsTheMediaTypeInAnyForm(t *testing.T) {
	for _, header := range []string{"application/json", "Application/JSON; charset=utf-8", "application/json; charset", "application/json;"} {
		must.Succeed(t, checkMediaType(header))
	}
}

func TestDiscovery_FollowsRedirects(t *testing.T) {
	plain := startPlain(t, func(w http.ResponseWriter, _ *http.Request) {
		document(w, `{"providers.v1":"p/"}`)
	})
	for _, tc := range []struct {
		name string
		hops int
		end  string
		want string
	}{
		{"one", 1, "/deep/in/doc.json", "SERVER/deep/in/p/"},
		{"three", 3, "/deep/doc.json", "SERVER/deep/p/"},
		{"not four", 4, "/doc.json", ""},
		{"to plain http on this machine", 1, plain.URL + "/x/doc.json", plain.URL + "/x/p/"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hops := 0
			u, srv, err := discover(t, quick(0), func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == tc.end {
					document(w, `{"providers.v1":"p/"}`)
					return
				}
				if hops++; hops == tc.hops {
					http.Redirect(w, r, tc.end, http.StatusFound)
				} else {
					http.Redirect(w, r, fmt.Sprintf("/hop/%d", hops), http.StatusFound)
				}
			})
			if tc.want == "" {
				must.Fail(t, err, ErrHostUnreachable)
				must.Contain(t, err, "stopped after 3 redirects")
				return
			}
			must.Succeed(t, err)
			must.Equal(t, u.String(), strings.Replace(tc.want, "SERVER", srv.URL, 1), u)
		})
	}
}

func TestDiscovery_AsksByPunycodeAndPort(t *testing.T) {
	for given, want := range map[string]string{
		"Registry.Example.com":     "https://registry.example.com/.well-known/terraform.json",
		"registry.example.com:443": "https://registry.example.com/.well-known/terraform.json",
		"bücher.example:8443":      "https://xn--bcher-kva.example:8443/.well-known/terraform.json",
	} {
		var asked recorder
		d := discovering(func(req *http.Request) *http.Response {
			asked.add(req.URL.String())
			return answer(req, 404)
		})
		must.Fail(t, must.ErrorOf(d.Service(t.Context(), must.Get(ParseHostname(given))(t), "providers.v1")), ErrNoService, given)
		must.Equal(t, asked.all(), want, given)
	}
}

func FuzzDiscoveryDocument(f *testing.F) {
	for _, seed := range []string{
		`{"providers.v1":"https://example.com/"}`, `{"providers.v1":"../a/#b"}`, `{"providers.v1":5}`, `{"providers.v2":""}`,
		`{"providers.v1":"https://u:p@h/"}`, `{"providers.v1":"https:x"}`, `{"providers.v1":"//[::1]:x/%zz"}`, `{`, `[]`, `null`, ``,
	} {
		f.Add([]byte(seed))
	}
	base := discoveryURL("example.com")
	f.Fuzz(func(t *testing.T, body []byte) {
		offered, err := parseServices(base, body)
		if err != nil {
			must.Equal(t, must.As[*trouble](t, err).kind, ErrDiscoveryDocument)
			return
		}
		u, err := offered.url("providers.v1")
		if err != nil {
			must.As[*trouble](t, err)
			return
		}
		if !u.IsAbs() || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
			t.Errorf("unusable service URL %#v", u)
		}
	})
}

// Requests to a host that restarts, or is busy for a moment, are retried, as often as Terraform
// does.
func TestDiscovery_IsPatient(t *testing.T) {
	for _, status := range []int{429, 500, 503, 0} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			var asked atomic.Int32
			base, srv, err := discover(t, quick(1), func(w http.ResponseWriter, _ *http.Request) {
				switch n := asked.Add(1); {
				case n < 4 && status == 0:
					panic(http.ErrAbortHandler)
				case n < 4:
					w.WriteHeader(status)
				default:
					document(w, `{"providers.v1":"/v1/"}`)
				}
			})
			if err != nil || base.String() != srv.URL+"/v1/" || asked.Load() != 4 {
				t.Errorf("got %v after %d requests: %v", base, asked.Load(), err)
			}
		})
	}
}
