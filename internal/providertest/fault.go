package providertest

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// Fault is a way in which responses fail. The zero Fault changes nothing.
type Fault struct {
	Path       string              // only for requests whose path contains this; "" means all
	Times      int                 // only for the first Times requests; 0 means always
	Delay      time.Duration       // wait before the response
	Status     int                 // respond with this status instead
	RetryAfter string              // header, with Status
	Redirect   string              // respond with this Location instead (302, or Status)
	Header     http.Header         // additional or replaced header fields; a nil value removes one
	Body       func([]byte) []byte // changes the body
	Pause      time.Duration       // wait before each piece of body, of at most 32 KiB
	Rate       int64               // maximum bytes of body in a second (if > 0)
	CutAfter   int64               // drop the connection after this many bytes of body (if > 0)
	NoRange    bool                // ignore Range, and don't send Accept-Ranges
	Stall      bool                // send the header and CutAfter bytes, then nothing until the client gives up
}

// faultState is a fault and how often it still applies.
type faultState struct {
	kind string
	Fault
	left int // negative means always
}

// Break applies a fault to all requests of a kind: "discovery", "versions", "package", "sums",
// "signature", "archive", "module/versions", "module/download", "module/archive" of a registry;
// "index", "version", "archive" of a mirror. If several faults match a request, the latest one that
// isn't used up applies; so a zero Fault ends the earlier ones.
//
// HTTP/2 shares one connection among requests: CutAfter resets the stream there, and closes the
// connection of HTTP/1.
func (s *Server) Break(kind string, f Fault) {
	left := f.Times
	if left == 0 {
		left = -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &faultState{kind: kind, Fault: f, left: left})
}

// faultFor returns the fault for a request, and counts its use.
func (s *Server) faultFor(kind, path string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.faults) - 1; i >= 0; i-- {
		f := s.faults[i]
		if f.kind != kind || f.left == 0 || !strings.Contains(path, f.Path) {
			continue
		}
		f.left-- // an endless one counts down from -1 and never reaches 0
		return f.Fault
	}
	return Fault{}
}

// instead sends the fault's own response, if it has one.
func (f Fault) instead(w http.ResponseWriter, req *http.Request) bool {
	if f.Redirect == "" && f.Status == 0 {
		return false
	}
	maps.Copy(w.Header(), f.Header)
	status := f.Status
	if f.Redirect != "" {
		if status == 0 {
			status = http.StatusFound
		}
		http.Redirect(w, req, f.Redirect, status)
		return true
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	text := http.StatusText(status)
	if f.Body != nil {
		text = string(f.Body([]byte(text)))
	}
	http.Error(w, text, status)
	return true
}

// pause waits, and reports whether the client is still connected.
func (s *Server) pause(req *http.Request, delay time.Duration) bool {
	if delay <= 0 {
		return true
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-req.Context().Done():
	case <-s.closing:
	}
	return false
}

func (s *Server) faultyWriter(w http.ResponseWriter, req *http.Request, f Fault) http.ResponseWriter {
	limit := f.CutAfter
	if limit <= 0 && !f.Stall {
		limit = -1
	}
	giveUp := func() {
		if f.Stall {
			select {
			case <-req.Context().Done():
			case <-s.closing:
			}
		}
		panic(http.ErrAbortHandler) // net/http drops the connection
	}
	header := f.Header
	if f.NoRange {
		header = http.Header{"Accept-Ranges": nil}
		maps.Copy(header, f.Header)
	}
	began, total := time.Now(), time.Duration(0)
	sent := func(bytes int) {
		total += time.Duration(bytes)
		s.countSent(bytes)
	}
	pause := func() {
		wait := f.Pause
		if f.Rate > 0 {
			wait += time.Until(began.Add(total * time.Second / time.Duration(f.Rate)))
		}
		if !s.pause(req, wait) {
			panic(http.ErrAbortHandler)
		}
	}
	return &faultyWriter{ResponseWriter: w, header: header, left: limit, pause: pause, giveUp: giveUp, sent: sent}
}

// faultyWriter changes the header before it is sent, and gives up after a number of bytes of body.
type faultyWriter struct {
	http.ResponseWriter
	header http.Header
	left   int64 // negative means no limit
	pause  func()
	giveUp func()
	sent   func(bytes int)
}

// Unwrap lets handlers flush.
func (w *faultyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *faultyWriter) WriteHeader(status int) {
	maps.Copy(w.Header(), w.header)
	w.ResponseWriter.WriteHeader(status)
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	w.pause()
	if w.left < 0 || int64(len(p)) < w.left {
		n, err := w.ResponseWriter.Write(p)
		w.sent(n)
		if w.left >= 0 {
			w.left -= int64(n)
		}
		return n, err
	}
	n, _ := w.ResponseWriter.Write(p[:w.left])
	w.sent(n)
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	w.giveUp()
	return 0, http.ErrAbortHandler
}
