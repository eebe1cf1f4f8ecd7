package hosts

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// idlePerHost is how many unused connections to a host are kept. With the standard library's 2,
// most connections would be closed and opened again when many packages come from one host.
const idlePerHost = 32

// configure applies the options to a transport.
func configure(t *http.Transport, opts ClientOptions) error {
	decided := opts.decided()
	limit := decided.HeaderTimeout
	if decided.Proxy != nil {
		t.Proxy = decided.Proxy
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
	if opts.Base == nil || opts.HeaderTimeout > 0 {
		t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = 0, 0
	}
	t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = cmp.Or(t.TLSHandshakeTimeout, limit), cmp.Or(t.ResponseHeaderTimeout, limit)
	t.ForceAttemptHTTP2 = true // no effect on a transport whose TLSNextProto or Protocols exclude it
	t.MaxIdleConnsPerHost = max(t.MaxIdleConnsPerHost, idlePerHost)
	return addCertificates(t.TLSClientConfig, opts.CertFile, opts.CertDir)
}

// within limits the time of connecting.
func within(limit time.Duration, dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return dial(ctx, network, address)
	}
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// cloneDefault also works if a program has replaced http.DefaultTransport.
func cloneDefault() *http.Transport {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}
	return &http.Transport{IdleConnTimeout: 90 * time.Second}
}

// certificateBytes is the size of the largest file of certificates that is read.
const certificateBytes = 16 << 20

// addCertificates trusts a PEM file, and PEM files in a list of directories, in addition to the
// trusted certificates. Without any, it doesn't change the pool, because loading the system's
// certificates costs start-up time.
func addCertificates(to *tls.Config, file, dirs string) error {
	if file == "" && dirs == "" {
		return nil
	}
	if to.RootCAs != nil {
		to.RootCAs = to.RootCAs.Clone() // the caller owns it
	} else if system, err := x509.SystemCertPool(); err != nil {
		return fmt.Errorf("cannot load the system's certificates: %w", err)
	} else {
		to.RootCAs = system
	}
	if file != "" {
		pem, err := wholefile.ReadAny(context.Background(), file, certificateBytes)
		if err != nil {
			return fmt.Errorf("cannot read the file of certificates: %w", err)
		}
		if !to.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("there is no certificate in %s", file)
		}
	}
	for _, dir := range filepath.SplitList(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("cannot read the directory of certificates: %w", err)
		}
		for _, e := range entries { // such directories also hold revocation lists, indexes, pipes and broken links
			if pem, err := wholefile.Read(filepath.Join(dir, e.Name()), certificateBytes); err == nil {
				to.RootCAs.AppendCertsFromPEM(pem)
			}
		}
	}
	return nil
}
