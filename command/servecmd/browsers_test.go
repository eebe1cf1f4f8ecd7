package servecmd

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/view/screentest"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestGuard_RefusesPagesOfOtherSites has requests as clients send them.
func TestGuard_RefusesPagesOfOtherSites(t *testing.T) {
	const chromium, firefox, terraform = "User-Agent: Mozilla/5.0 Chrome/141", "User-Agent: Mozilla/5.0 Firefox/144", "User-Agent: Terraform/1.15.9"
	none := options{listen: defaultListen}
	named, withTokens, withTLS := none, none, none
	named.browserHosts, withTokens.tokens, withTLS.cert = []string{"Wiki.example.com"}, "tokens.txt", "tls.crt"
	byName := none
	byName.listen = "mirror:8080"
	const mirror, page = "/mirror/registry.example.com/a/b/index.json", "/status.json"
	for name, c := range map[string]struct {
		options options
		on      address
		host    string // of the request
		path    string
		header  string // lines
		refused bool
	}{
		"terraform":                               {none, "127.0.0.1", "127.0.0.1:8080", mirror, terraform, false},
		"terraform by nginx, which has a name":    {none, "127.0.0.1", "mirror.example.com", mirror, terraform + "\nX-Forwarded-For: 192.0.2.1", false},
		"a browser by nginx, which speaks https":  {none, "127.0.0.1", "mirror.example.com", page, chromium + "\nSec-Fetch-Site: none", false},
		"the script of the page, by nginx":        {none, "127.0.0.1", "mirror.example.com", page, chromium + "\nSec-Fetch-Site: same-origin", false},
		"a browser here":                          {none, "127.0.0.1", "localhost:8080", page, chromium + "\nSec-Fetch-Site: none", false},
		"a browser that sends no Sec-Fetch-Site":  {none, "127.0.0.1", "127.0.0.1:8080", page, firefox, false},
		"a browser by IPv6":                       {none, "::1", "[::1]:8080", page, firefox, false},
		"a browser with a name below localhost":   {none, "127.0.0.1", "mirror.localhost.:8080", page, firefox, false},
		"a browser by a name of -listen":          {byName, "127.0.0.1", "mirror:8080", page, firefox, false},
		"a browser by a name of -browser-host":    {named, "127.0.0.1", "wiki.example.com:80", page, firefox, false},
		"a browser by a forwarded port":           {none, "127.0.0.1", "192.0.2.1:8080", page, firefox, false},
		"a program of HTTP/1.0":                   {none, "127.0.0.1", "", mirror, "", false},
		"a link that the user follows":            {none, "127.0.0.1", "127.0.0.1:8080", mirror, chromium + "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-User: ?1", false},
		"a link to the page":                      {none, "127.0.0.1", "127.0.0.1:8080", "/", chromium + "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate", false},
		"a page whose name became 127.0.0.1":      {none, "127.0.0.1", "evil.example.com:8080", page, chromium + "\nAccept-Language: en", true},
		"it asks for a provider":                  {none, "127.0.0.1", "evil.example.com:8080", mirror, chromium, true},
		"it calls itself Terraform":               {none, "127.0.0.1", "evil.example.com:8080", mirror, terraform + "\nAccept-Language: ", true},
		"it was forwarded, it says":               {none, "::1", "evil.example.com:8080", mirror, firefox + "\nX-Forwarded-For: 192.0.2.1", true},
		"its name only begins like localhost":     {none, "127.0.0.1", "localhost.evil.example.com", mirror, firefox, true},
		"a name that another one was given for":   {named, "127.0.0.1", "evil.example.com", mirror, firefox, true},
		"a server with tokens has no other check": {withTokens, "127.0.0.1", "evil.example.com", mirror, firefox, false},
		"nor has one with a certificate":          {withTLS, "127.0.0.1", "mirror.example.com", mirror, firefox, false},
		"or one that others reach anyway":         {none, "0.0.0.0", "mirror.example.com", mirror, firefox, false},
		"a picture in another page":               {none, "127.0.0.1", "127.0.0.1:8080", mirror, chromium + "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors", true},
		"another page goes there by itself":       {none, "127.0.0.1", "127.0.0.1:8080", mirror, chromium + "\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate", true},
		"another port of this machine":            {none, "127.0.0.1", "localhost:8080", mirror, chromium + "\nSec-Fetch-Site: same-site", true},
		"a script in another page, by its Origin": {none, "127.0.0.1", "127.0.0.1:8080", mirror, firefox + "\nOrigin: https://evil.example.com", true},
		"with tokens, which the browser may know": {withTokens, "0.0.0.0", "mirror.example.com", mirror, chromium + "\nSec-Fetch-Site: cross-site", true},
	} {
		reached := false
		handler := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), c.options, c.on.addr(), quiet)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, c.path, nil)
			r.Host, reached = c.host, false
			for line := range strings.Lines(c.header) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
				r.Header.Set(key, strings.TrimSpace(value))
			}
			handler.ServeHTTP(w, r)
			if refused := w.Code == http.StatusForbidden; refused != c.refused || reached == c.refused {
				t.Errorf("%s, %s: %d, reached: %t", name, method, w.Code, reached)
			}
		}
	}
	t.Run("in a browser", guardInABrowser)
}

// TestGuard_WaitsForNoBody: the connection of a refused client that doesn't send its announced body is closed.
func TestGuard_WaitsForNoBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = guard(http.NotFoundHandler(), options{listen: defaultListen}, server.Listener.Addr(), quiet)
	server.Start()
	defer server.Close()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String()))(t)
	defer conn.Close()
	must.Get(io.WriteString(conn, "GET /mirror/ HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 10\r\n\r\n"))(t)
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // ends the test after a failure
	answer, err := io.ReadAll(conn)                            // ends when the server closes the connection
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
		t.Errorf("%.100q, %v", answer, err)
	}
}

// guardInABrowser opens pages in Chromium that attack a server: one of another site (CSRF), and one whose name suddenly resolves to the
// server's address (DNS rebinding). The same attacks succeed against an unguarded server, which shows that they work.
func guardInABrowser(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		f, _ := frontOf(t)
		handler := http.Handler(f.handler())
		server := httptest.NewUnstartedServer(nil)
		if guarded {
			handler = guard(handler, options{listen: defaultListen}, server.Listener.Addr(), f.log)
		}
		server.Config.Handler = handler
		server.Start()
		defer server.Close()
		evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `<!DOCTYPE html><img src="%s%sindex.json"><script>fetch("%[1]s%[2]s1.0.0.json", {mode: "no-cors"})</script>`, server.URL, widget)
		}))
		defer evil.Close()
		const asItEnds = "--virtual-time-budget=3000"
		screentest.Browse(t, evil.URL, "--dump-dom", asItEnds)
		must.Equal(t, stat(f.mirror, "requests_total") != 0, !guarded, "requests of a page of another site", guarded)
		rebound := strings.Replace(server.URL, "127.0.0.1", "evil.example.com", 1)
		dom := screentest.Browse(t, rebound+"/status.json", "--dump-dom", asItEnds, "--host-resolver-rules=MAP evil.example.com 127.0.0.1")
		if strings.Contains(dom, `"Upstreams"`) == guarded || strings.Contains(dom, "-browser-host") != guarded {
			t.Errorf("guarded: %t: the page of another name: %.500s", guarded, dom)
		}
		for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
			must.Contain(t, screentest.Browse(t, url+"/", "--dump-dom", asItEnds), "1.2.3, since ", guarded, url)
		}
	}
}

// pageInABrowser checks the page in Chromium: its script has filled it, as its
// Content-Security-Policy allows.
func pageInABrowser(t *testing.T) {
	f, registry := frontOf(t)
	f.begun = time.Now()
	server := httptest.NewServer(f.handler())
	defer server.Close()
	f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
	f.idle()
	f.looks(t)
	f.timings.observe(hosts.Exchange{Host: `<script>document.title = "hacked"</script>`})
	dom := screentest.Browse(t, server.URL+"/", "--dump-dom", "--virtual-time-budget=5000")
	for _, want := range []string{
		"1.2.3, since ", "<td>" + strings.TrimPrefix(registry.BaseURL(), "https://") + "</td>", "/acme/widget</td><td>1.0.0</td><td>linux_amd64</td>",
		`<b>1</b><span class="soft">requests</span>`, `in 1 archives in the store`, "&lt;script&gt;document.title",
	} {
		must.Contain(t, dom, want, "isn't in the page")
	}
	must.NotContain(t, dom, "<title>hacked", "a text became markup")
}
