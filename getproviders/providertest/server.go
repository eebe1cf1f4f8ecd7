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

// Server is a web server that counts requests and breaks on command. It is safe
// for many goroutines.
type Server struct {
	ca      *CA
	plain   bool
	port    int
	client  *http.Client
	http    *http.Server
	listen  net.Listener
	closing chan struct{}
	running sync.WaitGroup // what Close waits for: the server and its handlers

	mu       sync.Mutex // guards what follows
	closed   bool
	faults   []*faultState
	tokens   map[string]string // by kind of request
	requests []Request
	sent     int64
	conns    int
}

// ServerOptions configures NewServer; the zero value works.
type ServerOptions struct {
	CA      *CA          // nil: a new one
	Plain   bool         // speak http
	Handler http.Handler // nil: nothing is found
}

// NewServer starts a server on a free port of 127.0.0.1. Close stops it. All
// requests are of the kind "other".
func NewServer(opts ServerOptions) (*Server, error) {
	s, err := newServer(opts)
	if err != nil {
		return nil, err
	}
	handler := opts.Handler
	if handler == nil {
		handler = http.NotFoundHandler()
	}
	s.start(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { s.serve(w, req, "other", handler) }))
	return s, nil
}

// newServer returns a server that has its address, and is yet to be started.
func newServer(opts ServerOptions) (s *Server, err error) {
	ca := opts.CA
	if ca == nil {
		if ca, err = NewCA(); err != nil {
			return nil, err
		}
	}
	certificate, err := ca.serverCertificate()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &Server{
		ca:      ca,
		plain:   opts.Plain,
		port:    listener.Addr().(*net.TCPAddr).Port,
		client:  newClient(ca),
		http:    &http.Server{TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}},
		listen:  listener,
		closing: make(chan struct{}),
		tokens:  make(map[string]string),
	}, nil
}

func (s *Server) start(handler http.Handler) {
	s.http.Handler = handler
	s.http.ErrorLog = log.New(io.Discard, "", 0) // clients that give up are what tests are about
	s.http.ConnState = s.countConnection
	s.running.Go(func() {
		if s.plain {
			_ = s.http.Serve(s.listen)
		} else {
			_ = s.http.ServeTLS(s.listen, "", "")
		}
	})
}

func newClient(ca *CA) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM())
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		ForceAttemptHTTP2: true,
	}}
}

// Close stops the server, drops its connections and those of Client, and
// waits until no request is being answered any more. Closing twice is fine.
func (s *Server) Close() {
	if s.markClosed() {
		close(s.closing)
		_ = s.http.Close()
		s.client.CloseIdleConnections()
	}
	s.running.Wait()
}

func (s *Server) markClosed() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.closed
	s.closed = true
	return first
}

// enter counts a handler in, for Close to wait for; false if it is too late.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// Host is "localhost:PORT". It may be the host of a provider: a registry's
// discovery works there.
func (s *Server) Host() string { return fmt.Sprintf("localhost:%d", s.port) }

// BaseURL is the server's URL, without a slash at its end.
func (s *Server) BaseURL() string {
	if s.plain {
		return "http://" + s.Host()
	}
	return "https://" + s.Host()
}

// Client returns an HTTP client that trusts the server's CA and no other,
// and uses no proxy. It is the same one each time: copy it to change it.
func (s *Server) Client() *http.Client { return s.client }

// CAPEM is the CA's certificate, for SSL_CERT_FILE.
func (s *Server) CAPEM() []byte { return s.ca.PEM() }

// RequireToken makes the server answer 401 to requests of these kinds unless
// they bear the token. There is no way back.
func (s *Server) RequireToken(token string, kinds ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.tokens[kind] = token
	}
}

// refuses reports whether a request lacks the token that it needs.
func (s *Server) refuses(kind string, req *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, needed := s.tokens[kind]
	return needed && req.Header.Get("Authorization") != "Bearer "+token
}
