package servecmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

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

// asking is m for what is asked for others: its clients connect as a dialer does, remember what is still good, and are observed.
func (f front) asking(m *cli.Meta, by *hosts.PublicDialer) *cli.Meta {
	asking := *m
	asking.NewClient = func(opts hosts.ClientOptions) (*http.Client, error) {
		opts.DialContext = dial(by)
		client, err := m.NewClient(opts)
		if err != nil {
			return nil, err
		}
		return hosts.WithRevalidation(hosts.WithObserver(client, m.Now, f.upstreams.observe)), nil
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
