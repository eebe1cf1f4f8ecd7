package hosts

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// idlePerHost is how many unused connections to a host are kept. The
// standard library's 2 would close, and open again, most of those that are used
// when many packages come from one host.
const idlePerHost = 16

// configure gives a transport the settings that are asked for.
func configure(t *http.Transport, opts ClientOptions, limit time.Duration) error {
	if opts.Proxy != nil || opts.Base == nil {
		t.Proxy = opts.Proxy
		if t.Proxy == nil {
			t.Proxy = http.ProxyFromEnvironment
		}
	}
	switch {
	case opts.DialContext != nil:
		t.DialContext = within(limit, opts.DialContext)
	case opts.Base == nil || t.DialContext == nil:
		t.DialContext = (&net.Dialer{Timeout: limit, KeepAlive: 30 * time.Second}).DialContext
	default:
		t.DialContext = within(limit, t.DialContext)
	}
	if opts.TLS != nil {
		t.TLSClientConfig = opts.TLS.Clone()
	} else if opts.Base == nil || t.TLSClientConfig == nil {
		t.TLSClientConfig = new(tls.Config)
	}
	if t.TLSClientConfig.MinVersion == 0 {
		t.TLSClientConfig.MinVersion = tls.VersionTLS12
	}
	given := opts.Base != nil && opts.HeaderTimeout == 0
	if !given || t.TLSHandshakeTimeout == 0 {
		t.TLSHandshakeTimeout = limit
	}
	if !given || t.ResponseHeaderTimeout == 0 {
		t.ResponseHeaderTimeout = limit
	}
	t.ForceAttemptHTTP2 = true // has no effect on a transport whose TLSNextProto or Protocols say otherwise
	t.MaxIdleConnsPerHost = max(t.MaxIdleConnsPerHost, idlePerHost)
	return addCertificates(t.TLSClientConfig, opts.CertFile, opts.CertDir)
}

// within limits the time that it takes to connect.
func within(limit time.Duration, dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return dial(ctx, network, address)
	}
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// cloneDefault copes with programs that replaced http.DefaultTransport.
func cloneDefault() *http.Transport {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{IdleConnTimeout: 90 * time.Second}
}
