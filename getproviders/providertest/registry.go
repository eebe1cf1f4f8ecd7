// Package providertest is a provider registry on loopback for tests: it
// speaks real HTTPS with a throw-away CA, signs with a throw-away key, counts
// requests, and breaks on command.
//
// A registry is filled with Add and asked by its own host, "localhost:PORT",
// or by any other host that a host block of the CLI configuration redirects to
// ServiceURL:
//
//	registry, err := providertest.NewRegistry(providertest.Options{})
//	...
//	defer registry.Close()
//	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
//	env, err := registry.Env(dir, "example.com") // for a real terraform
//
// It is meant for tests of any package and for programs under test, so it
// doesn't import testing. It does no more than a well-behaved registry has to:
// no login, no modules, no pagination.
package providertest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// Registry is a running registry. It is safe for many goroutines.
type Registry struct {
	opts    Options
	port    int
	caPEM   []byte
	client  *http.Client
	server  *http.Server
	closing chan struct{}
	running sync.WaitGroup // what Close waits for: the server and its handlers

	mu       sync.Mutex // guards what follows
	closed   bool
	packages []servedPackage
	faults   []*faultState
	requests []Request
	conns    int
}

// Options configures NewRegistry; the zero value works.
type Options struct {
	Signer *Signer // nil: a new one
	// EditSums changes a SHA256SUMS document before it is signed, for lists
	// that are odd but genuine; nil leaves it alone.
	EditSums func(sums []byte) []byte
}

// NewRegistry starts a registry on a free port of 127.0.0.1. Close stops it.
func NewRegistry(opts Options) (*Registry, error) {
	if opts.Signer == nil {
		signer, err := NewSigner(SignerOptions{})
		if err != nil {
			return nil, err
		}
		opts.Signer = signer
	}
	caPEM, leaf, err := makeCertificates()
	if err != nil {
		return nil, fmt.Errorf("making the test registry's certificates: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Registry{
		opts:    opts,
		port:    listener.Addr().(*net.TCPAddr).Port,
		caPEM:   caPEM,
		client:  newClient(caPEM),
		closing: make(chan struct{}),
	}
	r.serve(listener, leaf)
	return r, nil
}

func (r *Registry) serve(listener net.Listener, leaf tls.Certificate) {
	r.server = &http.Server{
		Handler:   r.handler(),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{leaf}},
		ErrorLog:  log.New(io.Discard, "", 0), // clients that give up are what tests are about
		ConnState: r.countConnection,
	}
	r.running.Go(func() { _ = r.server.ServeTLS(listener, "", "") })
}

func newClient(caPEM []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(caPEM)
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true,
	}}
}

// Close stops the server, drops its connections and those of Client, and
// waits until no request is being answered any more. Closing twice is fine.
func (r *Registry) Close() {
	if r.markClosed() {
		close(r.closing)
		_ = r.server.Close()
		r.client.CloseIdleConnections()
	}
	r.running.Wait()
}

func (r *Registry) markClosed() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.closed
	r.closed = true
	return first
}

// enter counts a handler in, for Close to wait for; false if it is too late.
func (r *Registry) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.running.Add(1)
	}
	return !r.closed
}

// Host is "localhost:PORT", to be used as a provider's hostname (discovery works there).
func (r *Registry) Host() string { return fmt.Sprintf("localhost:%d", r.port) }

// ServiceURL is the base URL of providers.v1, for host blocks.
func (r *Registry) ServiceURL() string { return "https://" + r.Host() + servicePath }

// Client returns an HTTP client that trusts the registry's CA and no other,
// and uses no proxy. It is the same one each time: copy it to change it.
func (r *Registry) Client() *http.Client { return r.client }

// CAPEM is the CA's certificate, for SSL_CERT_FILE.
func (r *Registry) CAPEM() []byte { return r.caPEM }

// Signer is who signs the checksum lists of packages that name no other.
func (r *Registry) Signer() *Signer { return r.opts.Signer }
