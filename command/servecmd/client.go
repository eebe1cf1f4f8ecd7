package servecmd

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// asker is who sends a request, as far as that is found out while it is answered.
type asker struct{ token string } // the name of its token; "": it has none, or the signature of a URL

// askerKey is the key of an asker in the context of a request, where tokenFile finds it.
type askerKey struct{}

// client is the address of the client. Behind proxies that are trusted it is what they say: the last address in X-Forwarded-For, or
// else in Forwarded, that isn't one of theirs. A client can write what it likes in front of that.
func (o options) client(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if said[0] == "" {
		said = forwardedFor(r.Header.Values("Forwarded"))
	}
	for _, text := range slices.Backward(said) {
		if at, err := netip.ParseAddr(host); err != nil || !slices.ContainsFunc(o.proxies, func(p netip.Prefix) bool { return p.Contains(at.Unmap()) }) {
			break
		}
		text = strings.Trim(strings.TrimSpace(text), `"`)
		if at, err := netip.ParseAddrPort(text); err == nil {
			text = at.Addr().String()
		}
		at, err := netip.ParseAddr(strings.Trim(text, "[]"))
		if err != nil {
			break
		}
		host = at.WithZone("").String()
	}
	return host
}

// forwardedFor returns what stands behind "for=" in each element of the header.
func forwardedFor(values []string) (all []string) {
	for _, element := range strings.Split(strings.Join(values, ","), ",") {
		found := ""
		for _, pair := range strings.Split(element, ";") {
			if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
				found = value
			}
		}
		all = append(all, found)
	}
	return all
}
