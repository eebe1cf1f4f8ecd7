package providertest

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// Fault is a way to break. The zero Fault breaks nothing.
type Fault struct {
	Path       string              // only for requests whose path contains this; "": for all
	Times      int                 // for the first Times requests only; 0: always
	Delay      time.Duration       // wait so long before answering
	Status     int                 // answer with this status instead
	RetryAfter string              // header, with Status
	Redirect   string              // answer with this Location instead (302, or Status)
	Header     http.Header         // extra or replaced header fields; nil values remove one
	Body       func([]byte) []byte // change what is sent
	Pause      time.Duration       // wait so long before each piece of body, of which none has more than 32 KiB
	Rate       int64               // send no more bytes of body than this in a second (if > 0)
	CutAfter   int64               // drop the connection after so many bytes of body (if > 0)
	NoRange    bool                // send all of it, whatever part is asked for, and don't say that parts could be had
	Stall      bool                // send the header and CutAfter bytes, then nothing until the client gives up
}

// faultState is a fault and how often it is still to strike.
type faultState struct {
	kind string
	Fault
	left int // < 0: always
}

// Break applies a fault to all requests whose kind it is: "discovery",
// "versions", "package", "sums", "signature", "archive", "module/versions",
// "module/download", "module/archive" of a registry;
// "index", "version", "archive" of a mirror. Of several faults
// that fit a request, the one that was given last and isn't used up counts; so
// a zero Fault heals.
//
// HTTP/2 shares one connection among requests: CutAfter resets the stream
// there, where it closes the connection of HTTP/1.
func (s *Server) Break(kind string, f Fault) {
	left := f.Times
	if left == 0 {
		left = -1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &faultState{kind: kind, Fault: f, left: left})
}

// faultFor returns the fault that strikes a request, and uses it up by one.
func (s *Server) faultFor(kind, path string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.faults) - 1; i >= 0; i-- {
		f := s.faults[i]
		if f.kind != kind || f.left == 0 || !strings.Contains(path, f.Path) {
			continue
		}
		f.left-- // an endless one counts down from -1 and never meets 0
		return f.Fault
	}
	return Fault{}
}

// instead answers in the server's place, if the fault is of that sort.
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

// pause waits, and reports whether there is still a client to answer.
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
		panic(http.ErrAbortHandler) // how a handler drops its connection
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

// faultyWriter changes the header when it is final, and gives up after so many
// bytes of body.
type faultyWriter struct {
	http.ResponseWriter
	header http.Header
	left   int64 // < 0: no limit
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
