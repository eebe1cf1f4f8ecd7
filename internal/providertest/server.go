package providertest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a web server that counts requests and fails on demand. Many goroutines may use it.
type Server struct {
	ca      *CA
	plain   bool
	port    int
	client  *http.Client
	http    *http.Server
	listen  net.Listener
	closing chan struct{}
	running sync.WaitGroup // the server and its handlers, for which Close waits

	mu       sync.Mutex // guards the fields below
	closed   bool
	faults   []*faultState
	tokens   map[string]string // by kind of request
	requests []Request
	sent     int64
	conns    int
}

// ServerOptions configures NewServer; the zero value works.
type ServerOptions struct {
	CA      *CA          // nil means a new one
	Plain   bool         // use http
	Handler http.Handler // nil means 404
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

// newServer returns a server that listens, but isn't started yet.
func newServer(opts ServerOptions) (s *Server, err error) {
	ca := opts.CA
	if ca == nil {
		ca = NewCA()
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
		http:    &http.Server{TLSConfig: &tls.Config{Certificates: []tls.Certificate{ca.serverCertificate()}}},
		listen:  listener,
		closing: make(chan struct{}),
		tokens:  make(map[string]string),
	}, nil
}

func (s *Server) start(handler http.Handler) {
	s.http.Handler = handler
	s.http.ErrorLog = log.New(io.Discard, "", 0) // tests let clients give up, which net/http would log
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

// Close stops the server, drops its connections and those of Client, and waits for running
// handlers. It may be called twice.
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

// enter adds a handler, for which Close waits; it returns false after Close.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Add(1)
	}
	return !s.closed
}

// Host returns "localhost:PORT". It can be the host of a provider: a registry's discovery works
// there.
func (s *Server) Host() string { return fmt.Sprintf("localhost:%d", s.port) }

// BaseURL returns the server's URL, without a trailing slash.
func (s *Server) BaseURL() string {
	if s.plain {
		return "http://" + s.Host()
	}
	return "https://" + s.Host()
}

// Client returns an HTTP client that trusts only the server's CA, and uses no proxy. It is the same
// one each time: copy it to change it.
func (s *Server) Client() *http.Client { return s.client }

// CAPEM returns the CA's certificate, for SSL_CERT_FILE.
func (s *Server) CAPEM() []byte { return s.ca.PEM() }

// RequireToken makes the server answer 401 to requests of these kinds without the bearer token. It
// can't be undone.
func (s *Server) RequireToken(token string, kinds ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.tokens[kind] = token
	}
}

// refuses reports whether a request lacks its required token.
func (s *Server) refuses(kind string, req *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, needed := s.tokens[kind]
	return needed && req.Header.Get("Authorization") != "Bearer "+token
}

// answer is the response of a server without faults. Without a body it is a status.
type answer struct {
	status      int // 0 means 404
	contentType string
	etag        string
	body        io.ReadSeeker
	done        func() // nil means nothing to close
}

func document(contentType string, content []byte) answer {
	return answer{contentType: contentType, body: bytes.NewReader(content)}
}

const (
	typeJSON   = "application/json"
	typeText   = "text/plain; charset=utf-8"
	typeBinary = "application/octet-stream"
	typeZip    = "application/zip"
)

// answer records a request, then sends the result of find, or the fault's response.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, kind string, find func(*http.Request) answer) {
	s.receive(w, req, kind, func(w http.ResponseWriter, fault Fault) {
		found := find(req)
		if found.done != nil {
			defer found.done()
		}
		if found.body == nil {
			status := cmp.Or(found.status, http.StatusNotFound)
			http.Error(w, http.StatusText(status), status)
			return
		}
		if fault.Body != nil {
			original, _ := io.ReadAll(found.body)
			found.body = bytes.NewReader(fault.Body(original))
		}
		if found.etag == "" {
			sent, _ := io.ReadAll(found.body)
			found.body, found.etag = bytes.NewReader(sent), fmt.Sprintf("\"%x\"", sha256.Sum256(sent))
		}
		w.Header().Set("Content-Type", found.contentType)
		w.Header().Set("Etag", found.etag)
		if fault.NoRange {
			req = req.Clone(req.Context())
			req.Header.Del("Range")
		}
		http.ServeContent(w, req, "", time.Time{}, found.body)
	})
}

func (s *Server) handle(mux *http.ServeMux, kind, pattern string, find func(*http.Request) answer) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, req *http.Request) { s.answer(w, req, kind, find) })
}

func nothing(*http.Request) answer { return answer{} }

// serve is answer for another handler. Fault.Body has no effect.
func (s *Server) serve(w http.ResponseWriter, req *http.Request, kind string, handler http.Handler) {
	s.receive(w, req, kind, func(w http.ResponseWriter, _ Fault) { handler.ServeHTTP(w, req) })
}

// receive records a request and calls answer, or sends the fault's response.
func (s *Server) receive(w http.ResponseWriter, req *http.Request, kind string, answer func(http.ResponseWriter, Fault)) {
	if !s.enter() {
		return
	}
	defer s.running.Done()
	s.record(kind, req)
	fault := s.faultFor(kind, req.URL.Path)
	switch {
	case !s.pause(req, fault.Delay):
	case fault.instead(w, req):
	case s.refuses(kind, req):
		http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
	default:
		answer(s.faultyWriter(w, req, fault), fault)
	}
}

// Request is the record of a request.
type Request struct {
	Kind   string // as for Break; "other" for requests that no client should make
	Method string
	Proto  string // "HTTP/2.0"
	Path   string
	Header http.Header
}

func (s *Server) record(kind string, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{
		Kind:   kind,
		Method: req.Method,
		Proto:  req.Proto,
		Path:   req.URL.Path,
		Header: req.Header.Clone(),
	})
}

// Log returns all requests so far, in the order of their arrival.
func (s *Server) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Requests returns the number of requests of a kind, of any method ("HEAD" counts all HEAD
// requests, of any kind; "" counts all requests).
func (s *Server) Requests(kind string) int {
	n := 0
	for _, req := range s.Log() {
		if kind == "" || kind == req.Kind || kind == req.Method {
			n++
		}
	}
	return n
}

// Sent returns the number of bytes of bodies sent, without those of error messages.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *Server) countSent(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent += int64(bytes)
}

// Connections returns how many connections clients have opened.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

func (s *Server) countConnection(_ net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns++
}
