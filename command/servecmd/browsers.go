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

// Pages of other sites can have a browser send requests to a server that only the browser's machine, or its network,
// reaches. Each request for a provider can have the server ask another host, and a name of the other site that suddenly
// means 127.0.0.1 lets its pages read the answers, too. Browsers say which requests are such, and programs that install
// packages are none of them:
//
//   - Sec-Fetch-Site, or else Origin, tells of requests that a page of another site makes. They get no provider, unless the user
//     follows a link.
//   - A name that isn't the server's is the page's own. Browsers then send no Sec-Fetch-Site, because they send it only by https and to this
//     machine, and no page can add it. So behind a proxy that speaks https any name is right.

// browserHeaders are those of which each browser sends at least one that no page can take away. An empty one counts, too.
var browserHeaders = [...]string{"Accept-Language", "Origin", "Referer", "Sec-Fetch-Site"}

// guard refuses requests that pages of other sites have browsers send.
func guard(next http.Handler, o options, on net.Addr, log *slog.Logger) http.Handler {
	byName := o.tokens == "" && !o.speaksTLS() && isLoopback(on) // a page with a name of its own has no token, and no certificate
	ofAnotherSite := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		why := ""
		asPost := *r
		asPost.Method = http.MethodPost // as if it changed something: that it only reads is no reason to answer
		switch {
		case byName && isBrowser(r) && r.Header.Get("Sec-Fetch-Site") == "" && !o.isNamed(r.Host):
			why = "a browser doesn't find this server by this name: use 127.0.0.1 or localhost, or name it with -browser-host"
		case strings.HasPrefix(r.URL.Path, "/mirror/") && ofAnotherSite.Check(&asPost) != nil && r.Header.Get("Sec-Fetch-User") == "":
			why = "a page of another site has the browser ask for this"
		default:
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength != 0 {
			// The server reads what is left of a body before the next request, and would wait for one that never comes.
			_ = http.NewResponseController(w).SetReadDeadline(longAgo)
		}
		log.Warn("a request is refused", "path", r.URL.Path, "host", r.Host, "from", r.RemoteAddr, "error", why)
		http.Error(w, why, http.StatusForbidden)
	})
}

// longAgo is a deadline that has passed, so that the body of a refused request isn't read.
var longAgo = time.Unix(1, 0)

// isBrowser reports whether a browser sends a request, or what looks like one.
func isBrowser(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), "Mozilla/") || slices.ContainsFunc(browserHeaders[:], func(name string) bool { return r.Header[name] != nil })
}

// isNamed reports whether a Host is one of the server's: no page of another site has it. Who has an address in place of
// a name has asked no name server what it means.
func (o options) isNamed(host string) bool {
	name := hostIn(host)
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return name == hostIn(o.listen) || slices.ContainsFunc(o.browserHosts, func(allowed string) bool { return hostIn(allowed) == name })
}

// hostIn is the name in HOST or HOST:PORT, as all spellings of it have it.
func hostIn(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isLoopback reports whether the address of a listener is one of this machine alone. A socket in the file system is
// none: no browser reaches it.
func isLoopback(on net.Addr) bool {
	tcp, ok := on.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// A client names the hosts that the server asks, and a registry names further ones: for archives, for services, by redirects.
// The server may reach hosts that neither of them does, and must not lend them its place in the network.

// networks is an option with networks, which may be given more than once.
func networks(to *[]netip.Prefix) cli.Value {
	return cli.Func(func(text string) error {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return errors.New("it has to be a network, such as 10.20.0.0/16 or fd00:20::/32")
		}
		*to = append(*to, network)
		return nil
	})
}

// asking returns m for requests on behalf of others: its clients connect by the dialer, remember answers that are still good, and are observed.
func (f *front) asking(m *cli.Meta, by *hosts.PublicDialer) *cli.Meta {
	asking := *m
	asking.NewClient = func(opts hosts.ClientOptions) (*http.Client, error) {
		opts.DialContext = dial(by)
		client, err := m.NewClient(opts)
		if err != nil {
			return nil, err
		}
		return hosts.WithRevalidation(hosts.WithObserver(client, m.Now, f.timings.observe)), nil
	}
	return &asking
}

// dial makes connections as a dialer does, and says what those who run the server can do if it refuses.
func dial(by *hosts.PublicDialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := by.DialContext(ctx, network, address)
		if errors.Is(err, hosts.ErrPrivateAddress) {
			err = fmt.Errorf("%w. If a registry or mirror of your own is there, -allow-network names its network", err)
		}
		return conn, err
	}
}

// named are the places that those who run the server have named, and which are asked wherever they are.
func (o options) named(env cli.Environment, config *cliconfig.Config, include []getproviders.Pattern) []string {
	all := sources.Named(env, config)
	add := func(host hosts.Hostname) {
		all = append(all, hosts.PlaceOf(&url.URL{Scheme: "https", Host: host.ASCII()}))
	}
	for _, pattern := range include {
		add(pattern.Hostname) // no host is called "*"
	}
	for _, text := range o.hosts {
		if host, err := hosts.ParseHostname(text); err == nil { // else it is an error elsewhere
			add(host)
		}
	}
	return all
}
