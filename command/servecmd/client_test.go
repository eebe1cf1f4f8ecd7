package servecmd

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// TestOptions_ClientIsWhomTrustedProxiesName: addresses that a client writes itself are before those of the first proxy, and are ignored.
func TestOptions_ClientIsWhomTrustedProxiesName(t *testing.T) {
	o := options{proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}
	for text, want := range map[string]string{ // an address, and a header
		"192.0.2.1:4 X-Forwarded-For: 198.51.100.7":                                  "192.0.2.1",
		"10.0.0.1:4 X-Forwarded-For: 198.51.100.7":                                   "198.51.100.7",
		"[::ffff:10.0.0.1]:4 X-Forwarded-For: 198.51.100.7":                          "198.51.100.7",
		"10.0.0.1:4 X-Forwarded-For: 203.0.113.9, 198.51.100.7, 10.1.1.1":            "198.51.100.7",
		"10.0.0.1:4 X-Forwarded-For: 203.0.113.9, nonsense":                          "10.0.0.1",
		"10.0.0.1:4 X-Forwarded-For: ":                                               "10.0.0.1",
		"10.0.0.1:4 X-Forwarded-For: 198.51.100.7:123":                               "198.51.100.7",
		`[fd00::1]:4 Forwarded: for=203.0.113.9, proto=https;For="[2001:db8::1]:47"`: "2001:db8::1",
		"10.0.0.1:4 Forwarded: for=unknown":                                          "10.0.0.1",
		"10.0.0.1:4 Other: x":                                                        "10.0.0.1",
		"@ X-Forwarded-For: 198.51.100.7":                                            "@",
	} {
		remote, header, _ := strings.Cut(text, " ")
		name, value, _ := strings.Cut(header, ": ")
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = remote
		r.Header.Set(name, value)
		must.Equal(t, o.client(r), want, text)
	}
	both := httptest.NewRequest(http.MethodGet, "/", nil)
	both.RemoteAddr = "10.0.0.1:4"
	both.Header.Set("X-Forwarded-For", "198.51.100.7")
	both.Header.Set("Forwarded", "for=203.0.113.9")
	must.Equal(t, o.client(both), "198.51.100.7")
}

// TestFront_LogsWhoAskedForWhat: a log line has the token's name, the client's address and the origin of the answer, but no token.
func TestFront_LogsWhoAskedForWhat(t *testing.T) {
	f, _ := frontOf(t)
	var out bytes.Buffer
	f.log = slog.New(slog.NewJSONHandler(&out, nil))
	f.opts.proxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // those of httptest
	file := filepath.Join(t.TempDir(), "tokens")
	must.Write(t, file, "secret-of-ci  ci runners \nnameless\n")
	f.opts.tokens = file
	to := mirrorserver.Options{Log: f.log}
	must.Succeed(t, f.withFiles(t.Context(), f.opts, &to, blob.NewDirectory(t.TempDir())))
	ask := func(path, token string, want int) (line struct {
		Path, By, From, Who string
		Status              int
		Bytes               int64
	}) {
		t.Helper()
		out.Reset()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("X-Forwarded-For", "198.51.100.7")
		f.handler().ServeHTTP(httptest.NewRecorder(), r)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || line.Path != path || line.Status != want || line.From != "198.51.100.7" || line.Bytes == 0 {
			t.Errorf("%v: %s", err, &out)
		}
		must.NotContain(t, out.String(), "secret", &out)
		must.NotContain(t, out.String(), "nameless", &out)
		return line
	}
	for _, by := range []string{"upstream", "store"} { // the mirror itself asks for no token here
		f.idle()
		for _, path := range []string{widget + "1.0.0.json", widget + "terraform-provider-widget_1.0.0_linux_amd64.zip"} {
			must.Equal(t, ask(path, "", http.StatusOK).By, by, path)
		}
	}
	for token, who := range map[string]string{"secret-of-ci": "ci runners", "nameless": "17d72fdf", "wrong": ""} {
		want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[who != ""]
		if line := ask("/status.json", token, want); line.Who != who || line.By != "" {
			t.Errorf("%s: %+v", token, line)
		}
	}
}

// TestFront_BoundsWhatOneClientAsks: while a request of a client runs, a second one of it is refused, but none of another client.
func TestFront_BoundsWhatOneClientAsks(t *testing.T) {
	f := quietFront()
	f.opts.perClient = 1
	begun, let, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	handler := f.logged(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mirror/slow" {
			close(begun)
			<-let
		}
	}))
	ask := func(path, from string, want int) http.Header {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.RemoteAddr = from + ":1"
		if handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s of %s: %d, want %d", path, from, w.Code, want)
		}
		return w.Header()
	}
	go func() {
		defer close(done)
		ask("/mirror/slow", "192.0.2.1", http.StatusOK)
	}()
	<-begun
	if ask("/mirror/", "192.0.2.1", http.StatusTooManyRequests).Get("Retry-After") == "" || f.limited.Load() != 1 {
		t.Errorf("not when to ask again, or not counted: %d", f.limited.Load())
	}
	ask("/mirror/", "192.0.2.2", http.StatusOK)
	ask("/readyz", "192.0.2.1", http.StatusOK)
	close(let)
	<-done
	ask("/mirror/", "192.0.2.1", http.StatusOK)
	must.Len(t, f.clients.All(), 0, "clients that have left are remembered")
}
