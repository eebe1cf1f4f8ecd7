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

// TestGuard_RefusesPagesOfOtherSites has requests as clients send them: the server and its address, the host and what is asked for, and headers. Those
// in the second list may be read by nobody.
func TestGuard_RefusesPagesOfOtherSites(t *testing.T) {
	plain := options{listen: defaultListen}
	named, withTokens, withTLS, withACME, byName := plain, plain, plain, plain, plain
	named.browserHosts, withTokens.tokens, withTLS.cert, withACME.acme.hosts = []string{"Wiki.example.com"}, "tokens.txt", "tls.crt", []string{"mirror.example.com"}
	byName.listen = "mirror:8080"
	servers := map[string]options{"plain": plain, "named": named, "tokens": withTokens, "TLS": withTLS, "ACME": withACME, "mirror:8080": byName}
	words := strings.NewReplacer("MIRROR", "/mirror/registry.example.com/a/b/index.json", "PAGE", "/status.json",
		"CHROMIUM", "User-Agent: Mozilla/5.0 Chrome/141", "FIREFOX", "User-Agent: Mozilla/5.0 Firefox/144", "TERRAFORM", "User-Agent: Terraform/1.15.9")
	for refused, requests := range map[bool][]string{false: {
		"plain 127.0.0.1 127.0.0.1:8080 MIRROR; TERRAFORM",
		"plain 127.0.0.1 mirror.example.com MIRROR; TERRAFORM; X-Forwarded-For: 192.0.2.1", // by nginx, which has a name
		"plain 127.0.0.1 mirror.example.com PAGE; CHROMIUM; Sec-Fetch-Site: none",          // a browser by nginx, which speaks https
		"plain 127.0.0.1 mirror.example.com PAGE; CHROMIUM; Sec-Fetch-Site: same-origin",   // the script of the page, by nginx
		"plain 127.0.0.1 localhost:8080 PAGE; CHROMIUM; Sec-Fetch-Site: none",              // a browser here
		"plain 127.0.0.1 127.0.0.1:8080 PAGE; FIREFOX",                                     // a browser that sends no Sec-Fetch-Site
		"plain ::1 [::1]:8080 PAGE; FIREFOX",
		"plain 127.0.0.1 mirror.localhost.:8080 PAGE; FIREFOX",
		"mirror:8080 127.0.0.1 mirror:8080 PAGE; FIREFOX",                                                                           // a name of -listen
		"named 127.0.0.1 wiki.example.com:80 PAGE; FIREFOX",                                                                         // a name of -browser-host
		"plain 127.0.0.1 192.0.2.1:8080 PAGE; FIREFOX",                                                                              // a forwarded port
		"plain 127.0.0.1 - MIRROR",                                                                                                  // a program of HTTP/1.0
		"plain 127.0.0.1 127.0.0.1:8080 MIRROR; CHROMIUM; Sec-Fetch-Site: cross-site; Sec-Fetch-Mode: navigate; Sec-Fetch-User: ?1", // a link that the user follows
		"plain 127.0.0.1 127.0.0.1:8080 /; CHROMIUM; Sec-Fetch-Site: cross-site; Sec-Fetch-Mode: navigate",                          // a link to the page
		"tokens 127.0.0.1 evil.example.com MIRROR; FIREFOX",                                                                         // a server with tokens has no other check
		"TLS 127.0.0.1 mirror.example.com MIRROR; FIREFOX",                                                                          // nor has one with a certificate
		"ACME 127.0.0.1 mirror.example.com MIRROR; FIREFOX",                                                                         // or one that gets its own
		"plain 0.0.0.0 mirror.example.com MIRROR; FIREFOX",                                                                          // or one that others reach anyway
	}, true: {
		"plain 127.0.0.1 evil.example.com:8080 PAGE; CHROMIUM; Accept-Language: en",                             // a page whose name became 127.0.0.1
		"plain 127.0.0.1 evil.example.com:8080 MIRROR; CHROMIUM",                                                // it asks for a provider
		"plain 127.0.0.1 evil.example.com:8080 MIRROR; TERRAFORM; Accept-Language: ",                            // it calls itself Terraform
		"plain ::1 evil.example.com:8080 MIRROR; FIREFOX; X-Forwarded-For: 192.0.2.1",                           // it was forwarded, it says
		"plain 127.0.0.1 localhost.evil.example.com MIRROR; FIREFOX",                                            // its name only begins like localhost
		"named 127.0.0.1 evil.example.com MIRROR; FIREFOX",                                                      // a name that another one was given for
		"plain 127.0.0.1 127.0.0.1:8080 MIRROR; CHROMIUM; Sec-Fetch-Site: cross-site; Sec-Fetch-Mode: no-cors",  // a picture in another page
		"plain 127.0.0.1 127.0.0.1:8080 MIRROR; CHROMIUM; Sec-Fetch-Site: cross-site; Sec-Fetch-Mode: navigate", // another page goes there by itself
		"plain 127.0.0.1 localhost:8080 MIRROR; CHROMIUM; Sec-Fetch-Site: same-site",                            // another port of this machine
		"plain 127.0.0.1 127.0.0.1:8080 MIRROR; FIREFOX; Origin: https://evil.example.com",                      // a script in another page, by its Origin
		"tokens 0.0.0.0 mirror.example.com MIRROR; CHROMIUM; Sec-Fetch-Site: cross-site",                        // with tokens, which the browser may know
	}} {
		for _, text := range requests {
			request := strings.Split(words.Replace(text), "; ")
			server := strings.Fields(request[0])
			reached := false
			handler := guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), servers[server[0]], address(server[1]).addr(), quiet)
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, server[3], nil)
				r.Host, reached = strings.TrimPrefix(server[2], "-"), false
				for _, header := range request[1:] {
					key, value, _ := strings.Cut(header, ": ")
					r.Header.Set(key, value)
				}
				handler.ServeHTTP(w, r)
				if w.Code == http.StatusForbidden != refused || reached == refused {
					t.Errorf("%s, %s: %d, reached: %t", text, method, w.Code, reached)
				}
			}
		}
	}
}

// TestGuard_WaitsForNoBody: a refused client that doesn't send the body that it announced has no connection for ever.
func TestGuard_WaitsForNoBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = guard(http.NotFoundHandler(), options{listen: defaultListen}, server.Listener.Addr(), quiet)
	server.Start()
	defer server.Close()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String()))(t)
	defer conn.Close()
	must.Get(io.WriteString(conn, "GET /mirror/ HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 10\r\n\r\n"))(t)
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // for the failure of the test
	answer, err := io.ReadAll(conn)                            // ends when the server closes the connection
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 403 ") {
		t.Errorf("%.100q, %v", answer, err)
	}
}

// TestGuard_InABrowser has Chromium open pages that attack a server: one of another site, and one whose name means the
// server's address suddenly. The same pages reach a server that isn't guarded, so that the test knows how.
func TestGuard_InABrowser(t *testing.T) {
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
		screentest.Browse(t, t.TempDir(), evil.URL, "--dump-dom", asItEnds)
		must.Equal(t, stat(f.mirror, "requests_total") != 0, !guarded, "requests of a page of another site", guarded)
		rebound := strings.Replace(server.URL, "127.0.0.1", "evil.example.com", 1)
		dom := screentest.Browse(t, t.TempDir(), rebound+"/status.json", "--dump-dom", asItEnds, "--host-resolver-rules=MAP evil.example.com 127.0.0.1")
		if strings.Contains(dom, `"Upstreams"`) == guarded || strings.Contains(dom, "a browser doesn&#39;t find") || strings.Contains(dom, "-browser-host") != guarded {
			t.Errorf("guarded: %t: the page of another name: %.500s", guarded, dom)
		}
		for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
			must.Contain(t, screentest.Browse(t, t.TempDir(), url+"/", "--dump-dom", asItEnds), "1.2.3, since ", guarded, url)
		}
	}
}

// TestFront_PageInABrowser looks at the page as Chromium shows it: its script has filled it, and the policy of its
// content allows that.
func TestFront_PageInABrowser(t *testing.T) {
	f, registry := frontOf(t)
	f.begun = time.Now()
	server := httptest.NewServer(f.handler())
	defer server.Close()
	f.ask(t, widget+"terraform-provider-widget_1.0.0_linux_amd64.zip", http.StatusOK)
	f.idle()
	f.looks(t)
	f.timings.observe(hosts.Exchange{Host: `<script>document.title = "hacked"</script>`})
	dom := screentest.Browse(t, t.TempDir(), server.URL+"/", "--dump-dom", "--virtual-time-budget=5000")
	for _, want := range []string{
		"1.2.3, since ", "<td>" + strings.TrimPrefix(registry.BaseURL(), "https://") + "</td>", "/acme/widget</td><td>1.0.0</td><td>linux_amd64</td>",
		`<b>1</b><span class="soft">requests</span>`, `in 1 archives in the store`, "&lt;script&gt;document.title",
	} {
		must.Contain(t, dom, want, "isn't in the page")
	}
	must.NotContain(t, dom, "<title>hacked", "a text became markup")
}
