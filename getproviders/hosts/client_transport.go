package hosts

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// idlePerHost is how many unused connections to a host are kept. The
// standard library's 2 would close, and open again, most of those that are used
// when many packages come from one host.
const idlePerHost = 16

// newTransport returns what connects to hosts.
func newTransport(opts ClientOptions) (*http.Transport, error) {
	roots, err := extraRoots(opts.CertFile, opts.CertDir)
	if err != nil {
		return nil, err
	}
	limit := orDefault(opts.HeaderTimeout, defaultHeaderTimeout)
	t := cloneDefault()
	t.Proxy = http.ProxyFromEnvironment
	t.DialContext = (&net.Dialer{Timeout: limit, KeepAlive: 30 * time.Second}).DialContext
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	t.TLSHandshakeTimeout = limit
	t.ResponseHeaderTimeout = limit
	t.ForceAttemptHTTP2 = true
	t.MaxIdleConnsPerHost = idlePerHost
	return t, nil
}

// cloneDefault copes with programs that replaced http.DefaultTransport.
func cloneDefault() *http.Transport {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{IdleConnTimeout: 90 * time.Second}
}
