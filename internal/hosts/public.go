package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/idna"
)

// ErrPrivateAddress says that a host is on this machine or in a network of its own, where a PublicDialer doesn't connect to.
var ErrPrivateAddress = errors.New("its address is one of this machine, of a private network or of a service of the network")

// PublicDialer connects to hosts on the internet, and to no others but those that it names. It is for programs that ask on behalf
// of others: a registry can name any host, redirect to it, or have its own name mean another address. Its DialContext is one for
// ClientOptions. A proxy connects by itself, so that it decides what it lets through.
type PublicDialer struct {
	Allowed  []netip.Prefix // other networks to which connections are made
	Hosts    []string       // as PlaceOf returns them: asked wherever they are
	Resolver *net.Resolver  // nil: the system's
}

// DialContext connects to HOST:PORT. The error of a host that has no other address is ErrPrivateAddress, and doesn't tell the
// address, which may be nobody's business.
func (d *PublicDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{KeepAlive: 30 * time.Second, Resolver: d.Resolver}
	if !slices.Contains(d.Hosts, strings.ToLower(address)) {
		dialer.Control = func(_, resolved string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(resolved); err != nil || !d.allows(at.Addr()) {
				return ErrPrivateAddress
			}
			return nil
		}
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if errors.Is(err, ErrPrivateAddress) {
		return nil, fmt.Errorf("%s isn't asked: %w", address, ErrPrivateAddress)
	}
	return conn, err
}

// allows reports whether connections to an address are made, after a name was resolved.
func (d *PublicDialer) allows(a netip.Addr) bool {
	a = a.WithZone("").Unmap() // no network contains an address with a zone
	v4 := translated(a)
	contains := func(n netip.Prefix) bool { return n.Contains(a) || n.Contains(v4) }
	return slices.ContainsFunc(d.Allowed, contains) || !slices.ContainsFunc(notPublic(), contains)
}

// notPublic are the networks that aren't the internet.
func notPublic() (all []netip.Prefix) {
	for _, text := range [...]string{
		"0.0.0.0/8", "127.0.0.0/8", // this machine
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", // private, and of providers of networks
		"169.254.0.0/16", "168.63.129.16/32", "192.0.0.0/24", // services of clouds among them
		"224.0.0.0/3",    // multicast, reserved, broadcast
		"::/96",          // this machine, and an old form of IPv4 addresses
		"fc00::/7",       // private
		"fe80::/9",       // link-local, and site-local
		"ff00::/8",       // multicast
		"64:ff9b:1::/48", // a network's own translation to IPv4
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// translated is the IPv4 address to which a gateway leads that an IPv6 address has in it; else the address itself.
func translated(a netip.Addr) netip.Addr {
	bytes := a.As16()
	in := func(network string) bool { return netip.MustParsePrefix(network).Contains(a) }
	switch {
	case in("64:ff9b::/96"), in("::ffff:0:0:0/96"): // NAT64, SIIT
		return netip.AddrFrom4([4]byte(bytes[12:]))
	case in("2002::/16"): // 6to4
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	return a
}

// PlaceOf is the HOST:PORT to which a client connects for a URL, that of a proxy included.
func PlaceOf(u *url.URL) string {
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		host = u.Hostname()
	}
	return strings.ToLower(net.JoinHostPort(host, cmp.Or(portOf(u), "1080"))) // what is neither http nor https is SOCKS
}
