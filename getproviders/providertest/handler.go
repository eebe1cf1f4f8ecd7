package providertest

import (
	"bytes"
	"io"
	"net/http"
	"time"
)

// answer is what a healthy server sends. A nil body stands for 404.
type answer struct {
	contentType string
	etag        string
	body        io.ReadSeeker
	done        func() // nil: nothing to close
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

// answer counts a request, then sends what find finds, as far as no fault is in
// the way.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, kind string, find func(*http.Request) answer) {
	s.receive(w, req, kind, func(w http.ResponseWriter, fault Fault) {
		found := find(req)
		if found.done != nil {
			defer found.done()
		}
		if found.body == nil {
			http.NotFound(w, req)
			return
		}
		if fault.Body != nil {
			original, _ := io.ReadAll(found.body)
			found.body = bytes.NewReader(fault.Body(original))
		}
		w.Header().Set("Content-Type", found.contentType)
		if found.etag != "" {
			w.Header().Set("Etag", found.etag)
		}
		if fault.NoRange {
			req = req.Clone(req.Context())
			req.Header.Del("Range")
		}
		http.ServeContent(w, req, "", time.Time{}, found.body)
	})
}

// serve is answer for what somebody else handles. Fault.Body has no effect.
func (s *Server) serve(w http.ResponseWriter, req *http.Request, kind string, handler http.Handler) {
	s.receive(w, req, kind, func(w http.ResponseWriter, _ Fault) { handler.ServeHTTP(w, req) })
}

// receive counts a request and has it answered, as far as no fault is in the
// way.
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
