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

// ErrPrivateAddress says that a host is on this machine or in a private network, to which a PublicDialer doesn't connect.
var ErrPrivateAddress = errors.New("its address is one of this machine, of a private network or of a service of the network")

// PublicDialer connects only to hosts on the internet, and to those that its fields allow. It is for programs that make requests
// for others: a registry can name any host, redirect to it, or let its own name resolve to a private address. DialContext is for
// ClientOptions. A proxy connects by itself, and decides which hosts it allows.
type PublicDialer struct {
	Allowed  []netip.Prefix // other allowed networks
	Hosts    []string       // allowed hosts in the form of PlaceOf, at any address
	Resolver *net.Resolver  // nil means the system's
}

// DialContext connects to HOST:PORT. The error of a host with private addresses only is ErrPrivateAddress, and doesn't have
// the address, which may be confidential.
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

// allows reports whether connections to a resolved address are allowed.
func (d *PublicDialer) allows(a netip.Addr) bool {
	a = a.WithZone("").Unmap() // no network contains an address with a zone
	v4 := translated(a)
	contains := func(n netip.Prefix) bool { return n.Contains(a) || n.Contains(v4) }
	return slices.ContainsFunc(d.Allowed, contains) || !slices.ContainsFunc(notPublic(), contains)
}

// notPublic returns the networks that aren't the internet.
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

// translated returns the IPv4 address that a gateway maps an IPv6 address to, or the address itself.
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

// PlaceOf returns the HOST:PORT to which a client connects for a URL, also a proxy's.
func PlaceOf(u *url.URL) string {
	host, err := idna.Lookup.ToASCII(u.Hostname())
	if err != nil {
		host = u.Hostname()
	}
	return strings.ToLower(net.JoinHostPort(host, cmp.Or(portOf(u), "1080"))) // other schemes than http and https are SOCKS
}
