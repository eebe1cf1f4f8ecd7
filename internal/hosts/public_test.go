package hosts

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/tfdeps/tfdeps/internal/must"
)

// resolver returns the addresses of names, one after the other; then the last one.
func resolver(t *testing.T, names map[string][]string) *net.Resolver {
	t.Helper()
	var mu sync.Mutex
	next := func(name string, want dnsmessage.Type) (found []dnsmessage.ResourceBody) {
		mu.Lock()
		defer mu.Unlock()
		all := names[strings.TrimSuffix(name, ".")]
		if len(all) == 0 {
			return nil
		}
		for _, text := range strings.Split(all[0], " ") {
			switch at := netip.MustParseAddr(text); {
			case at.Is4() && want == dnsmessage.TypeA:
				found = append(found, &dnsmessage.AResource{A: at.As4()})
			case !at.Is4() && want == dnsmessage.TypeAAAA:
				found = append(found, &dnsmessage.AAAAResource{AAAA: at.As16()})
			}
		}
		if len(all) > 1 && len(found) > 0 {
			names[strings.TrimSuffix(name, ".")] = all[1:]
		}
		return found
	}
	answer := func(conn net.Conn) error {
		var length uint16
		if err := binary.Read(conn, binary.BigEndian, &length); err != nil {
			return err
		}
		question := make([]byte, length)
		if _, err := io.ReadFull(conn, question); err != nil {
			return err
		}
		var m dnsmessage.Message
		if err := m.Unpack(question); err != nil {
			return err
		}
		m.Response, m.Additionals = true, nil
		for _, q := range m.Questions {
			for _, body := range next(q.Name.String(), q.Type) {
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: body})
			}
		}
		packed, err := m.Pack()
		if err == nil {
			_, err = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
		}
		return err
	}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		serving.Go(func() {
			defer server.Close()
			for answer(server) == nil {
			}
		})
		return client, nil
	}}
}

// TestPublicDialer_Allows has all spellings of addresses that aren't on the internet.
func TestPublicDialer_Allows(t *testing.T) {
	for private, texts := range map[bool]string{
		true: `
		127.0.0.1 127.9.9.9 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.100.100.200
		100.127.255.255 169.254.169.254 168.63.129.16 192.0.0.192 224.0.0.1 239.255.255.255 255.255.255.255 :: ::1 ::127.0.0.1
		fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1`,
		false: `
		8.8.8.8 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 100.63.255.255 100.128.0.0
		169.253.255.255 169.255.0.0 126.255.255.255 128.0.0.0 223.255.255.255 1.0.0.0 2001:4860:4860::8888 fbff::1 2606:4700::1111
`,
	} {
		for text := range strings.FieldsSeq(texts) {
			a := netip.MustParseAddr(text)
			forms := []string{text}
			if a.Is4() {
				b := a.As4()
				last := fmt.Sprintf("%02x%02x:%02x%02x", b[0], b[1], b[2], b[3])
				forms = append(forms, "::ffff:"+text, "::ffff:"+last, "64:ff9b::"+last, "::ffff:0:"+last, "2002:"+last+"::1")
			}
			for _, form := range forms {
				must.Equal(t, (&PublicDialer{}).allows(netip.MustParseAddr(form)), !private, form)
			}
		}
	}
	home := &PublicDialer{Allowed: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}}
	for text, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "64:ff9b::a01:203": true, "fd00:1::9": true, "10.2.0.1": false, "64:ff9b::a02:1": false, "64:ff9b:1::a01:203": false,
		"fd00:2::9": false, "127.0.0.1": false, "8.8.8.8": true,
	} {
		must.Equal(t, home.allows(netip.MustParseAddr(text)), want, !want)
	}
}

// TestPublicDialer_DecidesForEachConnection: a name that had another address before, a redirect, and a request of each kind.
func TestPublicDialer_DecidesForEachConnection(t *testing.T) {
	var reached atomic.Int32
	inside := startPlain(t, func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		io.WriteString(w, "a secret")
	})
	at := mustURL(t, inside.URL)
	outside := startPlain(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		http.Redirect(w, r, strings.TrimPrefix(r.URL.RawQuery, "to="), http.StatusFound)
	})
	home := PlaceOf(mustURL(t, outside.URL))
	names := map[string][]string{
		"inside.example.com": {"127.0.0.1"}, "inside6.example.com": {"::1"}, "mapped.example.com": {"::ffff:127.0.0.1"}, "both.example.com": {"127.0.0.1 ::1"},
		"metadata.example.com": {"169.254.169.254"}, "nowhere.example.com": {"0.0.0.0"}, "localhost": {"127.0.0.1"},
	}
	dialer := &PublicDialer{Hosts: []string{home}, Resolver: resolver(t, names)}
	client := newClient(t, ClientOptions{DialContext: dialer.DialContext, Retries: 3, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	for name := range names {
		for _, direct := range []bool{true, false} {
			for _, kind := range []string{"document", "archive"} {
				target := "http://" + net.JoinHostPort(name, at.Port()) + "/"
				if !direct {
					target = outside.URL + "/?to=" + target
				}
				ctx := t.Context()
				if kind == "archive" {
					ctx = WithOwnConnection(ctx)
				}
				resp, err := Do(client, get(t, target).WithContext(ctx))
				if err == nil {
					resp.Body.Close()
				}
				must.NotContain(t, err, "attempts", target, kind)
				must.Fail(t, err, ErrPrivateAddress, target, kind)
				must.NotContain(t, err, names[name][0], target, kind)
				if t.Failed() {
					return // each attempt waits
				}
			}
		}
	}
	must.Equal(t, reached.Load(), 0)
	for text, want := range map[string]error{inside.URL: ErrPrivateAddress, "http://localhost:" + at.Port(): ErrPrivateAddress, "http://[::ffff:127.0.0.1]:" + at.Port(): ErrPrivateAddress} {
		must.Fail(t, must.ErrorOf(client.Do(get(t, text))), want)
	}
}

// TestPublicDialer_ANameThatChangesItsMeaning: the name has an allowed address at the first lookup, and another one later.
func TestPublicDialer_ANameThatChangesItsMeaning(t *testing.T) {
	server := startPlain(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	names := map[string][]string{"rebinding.example.com": {"127.0.0.1", "169.254.169.254"}}
	dialer := &PublicDialer{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Resolver: resolver(t, names)}
	client := newClient(t, ClientOptions{DialContext: dialer.DialContext, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	for i, want := range []error{nil, ErrPrivateAddress, ErrPrivateAddress} {
		resp, err := client.Do(get(t, "http://rebinding.example.com:"+mustURL(t, server.URL).Port()))
		if err == nil {
			resp.Body.Close()
		}
		must.Fail(t, err, want, i+1)
	}
}

// TestPublicDialer_ThroughAProxy: the user configured the proxy, which may be anywhere; its own connections aren't checked.
func TestPublicDialer_ThroughAProxy(t *testing.T) {
	var asked atomic.Value
	proxy := startPlain(t, func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.URL.String()) })
	at := mustURL(t, proxy.URL)
	dialer := &PublicDialer{Hosts: []string{PlaceOf(at)}, Resolver: resolver(t, nil)}
	client := newClient(t, ClientOptions{DialContext: dialer.DialContext, Proxy: http.ProxyURL(at)})
	closed(t)(client.Do(get(t, "http://registry.example.com/x")))
	must.Equal(t, asked.Load(), "http://registry.example.com/x")
}

func TestPlaceOf(t *testing.T) {
	for text, want := range map[string]string{
		"https://Mirror.Example.com/x": "mirror.example.com:443", "http://mirror:8080": "mirror:8080", "http://10.0.0.1": "10.0.0.1:80", "https://[fd00::1]/": "[fd00::1]:443",
		"socks5://proxy": "proxy:1080", "https://münchen.example.com": "xn--mnchen-3ya.example.com:443",
	} {
		must.Equal(t, PlaceOf(mustURL(t, text)), want, text)
	}
}
