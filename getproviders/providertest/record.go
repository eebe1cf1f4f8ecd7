package providertest

import (
	"net"
	"net/http"
)

// Request is what the registry remembers of a request.
type Request struct {
	Kind   string // as for Break; "other" for what no client should ask for
	Method string
	Proto  string // "HTTP/2.0"
	Path   string
	Header http.Header
}

func (r *Registry) record(kind string, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, Request{
		Kind:   kind,
		Method: req.Method,
		Proto:  req.Proto,
		Path:   req.URL.Path,
		Header: req.Header.Clone(),
	})
}

// Log returns all requests so far, in the order of their arrival.
func (r *Registry) Log() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.requests...)
}

// Requests returns how many requests of a kind there were, of any method
// ("HEAD" counts all HEAD requests, of any kind; "" counts everything).
func (r *Registry) Requests(kind string) int {
	n := 0
	for _, req := range r.Log() {
		if kind == "" || kind == req.Kind || kind == req.Method {
			n++
		}
	}
	return n
}

// Connections returns how many connections clients have opened.
func (r *Registry) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.conns
}

func (r *Registry) countConnection(_ net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns++
}
