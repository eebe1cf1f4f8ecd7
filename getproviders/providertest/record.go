package providertest

import (
	"net"
	"net/http"
)

// Request is what the server remembers of a request.
type Request struct {
	Kind   string // as for Break; "other" for what no client should ask for
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

// Requests returns how many requests of a kind there were, of any method
// ("HEAD" counts all HEAD requests, of any kind; "" counts everything).
func (s *Server) Requests(kind string) int {
	n := 0
	for _, req := range s.Log() {
		if kind == "" || kind == req.Kind || kind == req.Method {
			n++
		}
	}
	return n
}

// Sent returns how many bytes of bodies were sent, those of error messages left
// out.
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
