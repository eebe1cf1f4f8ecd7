package servecmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Pages of other sites can make a browser send requests to a server that only the browser's machine, or its network,
// can reach (CSRF). Each request for a provider can make the server ask another host, and by DNS rebinding, where a name of the
// other site suddenly resolves to 127.0.0.1, its pages can also read the answers. Headers of browsers reveal such requests:
//
//   - Sec-Fetch-Site, or else Origin, shows that a page of another site makes a request. Such requests get no provider, unless the user
//     follows a link.
//   - A Host that isn't the server's name is the other site's. Browsers then send no Sec-Fetch-Site, because they send it only over https and to
//     localhost, and no page can add it. So behind a proxy that speaks https any name is accepted.

// browserHeaders are headers of which each browser sends at least one that no page can remove. An empty header counts, too.
var browserHeaders = [...]string{"Accept-Language", "Origin", "Referer", "Sec-Fetch-Site"}

// guard refuses requests that pages of other sites make browsers send.
func guard(next http.Handler, o options, on net.Addr, log *slog.Logger) http.Handler {
	byName := o.tokens == "" && !o.speaksTLS() && isLoopback(on) // DNS rebinding gives a page no token, and no certificate of the server
	ofAnotherSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		why := ""
		asPost := *r
		asPost.Method = http.MethodPost // Check accepts any GET, and a GET of another site must be refused, too
		switch {
		case byName && isBrowser(r) && r.Header.Get("Sec-Fetch-Site") == "" && !o.isNamed(r.Host):
			why = "this server refuses browsers by this name: use 127.0.0.1 or localhost, or allow it with -browser-host"
		case strings.HasPrefix(r.URL.Path, "/mirror/") && ofAnotherSite.Check(&asPost) != nil && r.Header.Get("Sec-Fetch-User") == "":
			why = "a page of another site made the browser send this request"
		default:
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength != 0 {
			// The server reads the rest of a body before the next request, and would wait for a body that never comes.
			_ = http.NewResponseController(w).SetReadDeadline(longAgo)
		}
		log.Warn("a request is refused", "path", r.URL.Path, "host", r.Host, "from", r.RemoteAddr, "error", why)
		http.Error(w, why, http.StatusForbidden)
	})
}

// longAgo is a deadline that has passed, so that the body of a refused request isn't read.
var longAgo = time.Unix(1, 0)

// isBrowser reports whether a request looks as if a browser sends it.
func isBrowser(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), "Mozilla/") || slices.ContainsFunc(browserHeaders[:], func(name string) bool { return r.Header[name] != nil })
}

// isNamed reports whether a Host is one of the server's names, which no page of another site has. An IP address is accepted, because
// DNS rebinding needs a name.
func (o options) isNamed(host string) bool {
	name := hostIn(host)
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return name == hostIn(o.listen) || slices.ContainsFunc(o.browserHosts, func(allowed string) bool { return hostIn(allowed) == name })
}

// hostIn returns the normalized name in HOST or HOST:PORT.
func hostIn(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isLoopback reports whether the address of a listener is a loopback address. A Unix socket is not, because
// no browser reaches it.
func isLoopback(on net.Addr) bool {
	tcp, ok := on.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// A client names the hosts that the server asks, and a registry names further ones: for archives, for services, by redirects.
// The server may reach hosts that neither of them can reach, and must not be used to attack these (SSRF).

// parseNetwork reads the value of an option with networks.
func parseNetwork(text string) (netip.Prefix, error) {
	network, err := netip.ParsePrefix(text)
	if err != nil {
		err = errors.New("it has to be a network, such as 10.20.0.0/16 or fd00:20::/32")
	}
	return network, err
}

// asking returns m for requests on behalf of clients: its HTTP clients connect by the dialer, cache answers that are still valid, and are measured.
// If the dialer refuses an address, the error tells operators what to do.
func (f *front) asking(m *cli.Meta, by *hosts.PublicDialer) *cli.Meta {
	asking := *m
	asking.NewClient = func(opts hosts.ClientOptions) (*http.Client, error) {
		opts.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := by.DialContext(ctx, network, address)
			if errors.Is(err, hosts.ErrPrivateAddress) {
				err = fmt.Errorf("%w. If your own registry or mirror is there, allow its network with -allow-network", err)
			}
			return conn, err
		}
		client, err := m.NewClient(opts)
		if err != nil {
			return nil, err
		}
		return hosts.WithRevalidation(hosts.WithObserver(client, m.Now, f.timings.observe)), nil
	}
	return &asking
}

// named returns the places that the operator has named, and which may have private addresses.
func (o options) named(env cli.Environment, config *cliconfig.Config, include []getproviders.Pattern) []string {
	all := sources.Named(env, config)
	add := func(host hosts.Hostname) {
		all = append(all, hosts.PlaceOf(&url.URL{Scheme: "https", Host: host.ASCII()}))
	}
	for _, pattern := range include {
		add(pattern.Hostname) // a pattern's "*" is no host, and matches none
	}
	for _, text := range o.hosts {
		if host, err := hosts.ParseHostname(text); err == nil { // errors are reported elsewhere
			add(host)
		}
	}
	return all
}
