package hosts

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// protocolOf makes a request, and returns the HTTP version of its response.
func protocolOf(t *testing.T, client *http.Client, ctx context.Context, at string) int {
	t.Helper()
	resp := closed(t)(client.Do(get(t, at).WithContext(ctx)))
	return resp.ProtoMajor
}

func TestClientOptions_CertFileIsTrustedOnEverySystem(t *testing.T) {
	srv := startTLS(t, func(http.ResponseWriter, *http.Request) {})
	file := filepath.Join(t.TempDir(), "ca.pem")
	must.Write(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	for name, opts := range map[string]ClientOptions{
		"file": {CertFile: file}, "directory": {CertDir: filepath.Dir(file)},
		"with a Base": {CertFile: file, Base: &http.Transport{}},
		"with TLS":    {CertFile: file, TLS: &tls.Config{ServerName: srv.Certificate().DNSNames[0]}},
	} {
		must.Equal(t, protocolOf(t, newClient(t, opts), t.Context(), srv.URL), 2, name)
	}
	must.Refuse(NewClient(ClientOptions{CertFile: file + ".missing"}))(t, "a file that isn't there is no error")
}

func TestClientOptions_ATransportAsBaseKeepsTheProtocolsAndTheLimits(t *testing.T) {
	release := make(chan struct{})
	srv := startTLS(t, func(_ http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/silent" {
			<-release
		}
	})
	t.Cleanup(func() { close(release) })
	base := srv.Client().Transport.(*http.Transport).Clone()
	client := newClient(t, ClientOptions{Base: base})
	must.Equal(t, protocolOf(t, client, t.Context(), srv.URL), 2)
	must.Equal(t, protocolOf(t, client, WithOwnConnection(t.Context()), srv.URL), 1)
	hasty := newClient(t, ClientOptions{Base: base, HeaderTimeout: 100 * time.Millisecond})
	for _, ctx := range []context.Context{t.Context(), WithOwnConnection(t.Context())} {
		_, err := hasty.Do(get(t, srv.URL+"/silent").WithContext(ctx))
		must.Equal(t, must.As[net.Error](t, err).Timeout(), true)
	}
	must.Equal(t, base.ResponseHeaderTimeout, 0, "the caller's own transport was changed")
}

func TestClientOptions_TheTimeLimitsOfATransportStay(t *testing.T) {
	base := &http.Transport{TLSHandshakeTimeout: time.Minute, ResponseHeaderTimeout: time.Hour}
	for given, want := range map[time.Duration][2]time.Duration{0: {time.Minute, time.Hour}, time.Second: {time.Second, time.Second}} {
		used := newClient(t, ClientOptions{Base: base, HeaderTimeout: given}).Transport.(*stack).next.(*http.Transport)
		must.Equal(t, [2]time.Duration{used.TLSHandshakeTimeout, used.ResponseHeaderTimeout}, want)
	}
}

func TestClientOptions_AnyOtherBaseHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, ClientOptions{HeaderTimeout: 5 * time.Second, Base: roundTrip(func(req *http.Request) (*http.Response, error) {
			if WantsOwnConnection(req.Context()) {
				return nil, errors.New("the archive")
			}
			<-req.Context().Done()
			return nil, req.Context().Err()
		})})
		start := time.Now()
		_, err := client.Do(get(t, "http://example.com/"))
		must.Fail(t, err, errTooSlow)
		must.Equal(t, time.Since(start), 15*time.Second)
		req := get(t, "http://example.com/")
		if _, err := client.Do(req.WithContext(WithOwnConnection(req.Context()))); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	for name, opts := range map[string]ClientOptions{
		"TLS": {TLS: new(tls.Config)}, "Proxy": {Proxy: http.ProxyFromEnvironment}, "DialContext": {DialContext: new(net.Dialer).DialContext}, "CertDir": {CertDir: t.TempDir()},
	} {
		opts.Base = roundTrip(nil)
		must.Refuse(NewClient(opts))(t, name)
	}
}

func TestClientOptions_ProxyAndDialContextAreUsed(t *testing.T) {
	srv := startPlain(t, func(http.ResponseWriter, *http.Request) {})
	address := must.Get(url.Parse(srv.URL))(t)
	var dialled []string
	client := newClient(t, ClientOptions{
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy.example.com:1") },
		DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			dialled = append(dialled, to)
			return new(net.Dialer).DialContext(ctx, network, address.Host)
		},
	})
	for _, ctx := range []context.Context{t.Context(), WithOwnConnection(t.Context())} {
		protocolOf(t, client, ctx, "http://registry.example.com/")
	}
	if len(dialled) != 2 || dialled[0] != "proxy.example.com:1" || dialled[1] != dialled[0] {
		t.Errorf("connected to %q", dialled)
	}
}

func TestDo_NilIsTheDefaultClient(t *testing.T) {
	if first, again := DefaultClient(), DefaultClient(); first == http.DefaultClient || first != again {
		t.Error("it isn't one client with time limits")
	}
	t.Cleanup(DefaultClient().CloseIdleConnections)
	srv := startPlain(t, func(http.ResponseWriter, *http.Request) {})
	resp := closed(t)(Do(nil, get(t, srv.URL)))
	if _, guarded := resp.Body.(*guardedBody); !guarded {
		t.Errorf("a body of type %T has no limit for stalls", resp.Body)
	}
}
