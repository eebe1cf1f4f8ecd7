package hosts

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestSaidBy_IsShortAndHoldsNoSecrets(t *testing.T) {
	const token = "of-users" // as short as one that is looked for
	for name, tt := range map[string]struct{ body, want string }{
		"text":               {"closed\r\nuntil 5 pm, 50% done\n", `; the server says "closed until 5 pm, 50% done"`},
		"JSON of a registry": {`{"errors": ["no such plan", "ask sales"]}`, `; the server says "no such plan; ask sales"`},
		"other JSON":         {`{"errors": 5}`, `; the server says "{\"errors\": 5}"`},
		"control characters": {"a\x1b[31m\u202eb\x00", `; the server says "a\x1b[31m\u202eb\x00"`},
		"no text":            {"a\xff\xfeb", `; the server says "ab"`},
		"a long one":         {strings.Repeat("é", 5000), `; the server says "` + strings.Repeat("é", 300) + `..."`},
		"a page":             {"\n<html>closed</html>", ""},
		"nothing":            {" \n", ""},
		"the status":         {"service unavailable\n", ""},
		"what was sent":      {"Bearer " + token + " and " + "(" + token + ")", `; the server says "Bearer REDACTED and REDACTED"`},
		"URLs":               {"see https://u:p@example.com/a?sig=secret and \"http://x?y=secret", `; the server says "see https://example.com/a?sig=REDACTED and REDACTED"`},
	} {
		srv := startTLS(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, tt.body)
		})
		doc := must.Get(GetDocument(t.Context(), clientFor(t, srv, quick(0)), DocumentRequest{
			URL: mustURL(t, srv.URL), Header: http.Header{"Authorization": {"Bearer " + token}}, MaxBytes: 10,
		}))(t)
		must.Equal(t, doc.Said, tt.want, name)
	}
}

func TestGetDocument(t *testing.T) {
	srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/from":
			http.Redirect(w, r, "/dir/to?x=1", http.StatusFound)
		case "/dir/to":
			w.Header().Set("X-Got", r.Header.Get("X-Sent"))
			io.WriteString(w, "0123456789")
		case "/failing":
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, strings.Repeat("x", 10000))
		case "/cut":
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "01234")
		case "/chunked":
			io.WriteString(w, "01234")
			http.NewResponseController(w).Flush()
			io.WriteString(w, "567890")
		}
	})
	client := clientFor(t, srv, quick(0))
	get := func(path string) (*Document, error) {
		return GetDocument(t.Context(), client, DocumentRequest{
			URL:          mustURL(t, srv.URL+path),
			Header:       http.Header{"X-Sent": {"hello"}},
			MaxRedirects: 1,
			MaxBytes:     10,
		})
	}

	doc := must.Get(get("/from"))(t)
	if doc.URL.String() != srv.URL+"/dir/to?x=1" || doc.StatusCode != 200 || doc.Status != "200 OK" ||
		doc.Header.Get("X-Got") != "hello" || string(doc.Body) != "0123456789" || doc.Attempts != 1 {
		t.Errorf("got %+v", doc)
	}
	doc = must.Get(get("/failing"))(t) // a failing status is the caller's
	must.Equal(t, doc.Status, "403 Forbidden")
	must.Len(t, doc.Body, failureBytes)
	doc, err := get("/chunked")
	must.Fail(t, err, ErrTooLarge)
	must.Equal(t, doc, nil)
	must.Equal(t, err.Error(), `Get "`+srv.URL+`/chunked": the response is larger than 10 bytes`)
	_, err = get("/cut")
	must.Fail(t, err, ErrRequest)
	must.Contain(t, err, srv.URL+"/cut")
	must.Fail(t, err, io.ErrUnexpectedEOF)
	must.Get(GetDocument(t.Context(), client, DocumentRequest{URL: mustURL(t, srv.URL)}))(t, "without a header")
}

func TestRead_AllTrustsNoContentLength(t *testing.T) {
	for _, tc := range []struct {
		length int64
		body   string
		ok     bool
	}{
		{-1, "12345", true},
		{-1, "123456", false},
		{5, "123456", false},
		{6, "", false},
	} {
		resp := &http.Response{ContentLength: tc.length, Body: io.NopCloser(strings.NewReader(tc.body))}
		body, err := ReadAll(resp, 5)
		if tc.ok != (err == nil) || tc.ok && string(body) != tc.body {
			t.Errorf("%+v: got %q, %v", tc, body, err)
		}
	}
}

func TestGetDocument_RedirectLimit(t *testing.T) {
	srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
		must.Equal(t, r.Header.Get("Referer"), "", "told where it came from")
		if r.URL.Path != "/end" {
			http.Redirect(w, r, map[string]string{"/3": "/2", "/2": "/1", "/1": "/end"}[r.URL.Path], http.StatusTemporaryRedirect)
		}
	})
	client := clientFor(t, srv, quick(0))
	for limit, ok := range map[int]bool{0: false, 2: false, 3: true, 10: true} {
		resp, err := do(client, get(t, srv.URL+"/3?token=secret"), redirectPolicy(limit))
		if ok {
			closed(t)(resp, err)
			continue
		}
		must.Contain(t, err, "stopped after", limit)
		must.NotContain(t, err, "secret", limit)
	}
	closed(t)(client.Get(srv.URL + "/3"))
}

// TestGetDocument_RedirectToNowhere: net/http's error contains the header, which may be a misspelt
// signed URL. The request isn't retried, as the result would be the same.
func TestGetDocument_RedirectToNowhere(t *testing.T) {
	var asked recorder
	srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
		asked.add(r.URL.Path)
		w.Header().Set("Location", "https://me:hunter2@cdn.example:port/x?signature=hunter3")
		w.WriteHeader(http.StatusFound)
	})
	for name, client := range map[string]*http.Client{"ours": clientFor(t, srv, quick(2)), "the library's": srv.Client()} {
		asked.reset()
		_, err := Do(client, get(t, srv.URL+"/a"))
		must.Fail(t, err, ErrRequest, name)
		must.NotContain(t, err, "attempts", name)
		must.Equal(t, asked.all(), "/a", name)
		text := fmt.Sprint(err)
		must.NotContain(t, text, "hunter", name)
		must.Contain(t, text, "redirects to something that is not a URL", name)
	}
}

func TestCredentials_StayWithTheirHost(t *testing.T) {
	seen := func(r *http.Request) string {
		return r.Header.Get("Authorization") + r.Header.Get("Cookie") + r.Header.Get("Proxy-Authorization") + "," + r.Header.Get("X-Terraform-Version")
	}
	var got recorder
	record := func(_ http.ResponseWriter, r *http.Request) { got.add(seen(r)) }
	other := startPlain(t, record)
	srv := startTLS(t, func(w http.ResponseWriter, r *http.Request) {
		record(w, r)
		switch r.URL.Path {
		case "/inside":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/outside": // the same address, but another port
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	client := clientFor(t, srv, quick(0))
	for path, want := range map[string]string{
		"/inside":  "secret,1 secret,1",
		"/outside": "secret,1 ,1",
	} {
		for _, name := range []string{"Authorization", "Cookie", "Proxy-Authorization"} {
			got.reset()
			req := get(t, srv.URL+path)
			req.Header.Set(name, "secret")
			req.Header.Set("X-Terraform-Version", "1")
			closed(t)(Do(client, req))
			must.Equal(t, got.all(), want, path, name)
		}
	}
}

func TestRedactURL(t *testing.T) {
	for given, want := range map[string]string{
		"https://example.com/a/b":                  "https://example.com/a/b",
		"https://example.com:8443/a%2Fb/":          "https://example.com:8443/a%2Fb/",
		"https://me:pw@example.com/":               "https://example.com/",
		"https://token@example.com/":               "https://example.com/",
		"https://example.com/?X-Sig=abc&Expires=1": "https://example.com/?X-Sig=REDACTED&Expires=REDACTED",
		"https://example.com/?justatoken":          "https://example.com/?REDACTED",
		"https://example.com/?a=b=c;d=%zz&&":       "https://example.com/?a=REDACTED&&",
		"https://example.com/#access_token=abc":    "https://example.com/",
		"mailto:me@example.com":                    "mailto:REDACTED",
		"/relative?x=y":                            "/relative?x=REDACTED",
	} {
		must.Equal(t, RedactURL(must.Get(url.Parse(given))(t)), want, given)
	}
	must.Equal(t, RedactURL(nil), "")
}

// A registry's documents about packages aren't accepted over plain http.
func TestGetDocument_DoesNotLeaveHTTPSForPlainHTTP(t *testing.T) {
	ways := map[string]string{
		"https://down.example/":  "http://cdn.example/doc",
		"https://local.example/": "http://localhost/doc",
		"http://plain.example/":  "http://cdn.example/doc",
	}
	var asked recorder
	client := asking(t, 0, func(req *http.Request) *http.Response {
		asked.add(req.URL.String())
		return onward(req, ways)
	})
	for first, to := range ways {
		asked.reset()
		_, err := GetDocument(t.Context(), client, DocumentRequest{URL: mustURL(t, first), MaxRedirects: 3, MaxBytes: 100})
		refused := first == "https://down.example/"
		if refused != errors.Is(err, ErrPlainHTTP) || !refused && err != nil {
			t.Errorf("%s: %v", first, err)
		}
		must.Equal(t, asked.all(), map[bool]string{true: first, false: first + " " + to}[refused])
	}
}
