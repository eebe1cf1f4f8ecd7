package hosts

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// StallError says that an answer, or the rest of one, didn't come: no byte for so
// long. The connection has been dropped.
type StallError struct {
	URL   string // redacted
	Limit time.Duration
}

// Error implements error.
func (e *StallError) Error() string {
	return fmt.Sprintf("the transfer from %s stalled: no data for %s", e.URL, e.Limit)
}

// Code is "stalled".
func (e *StallError) Code() string { return "stalled" }

// Timeout makes a StallError a timeout in the sense of net.Error.
func (e *StallError) Timeout() bool { return true }

// headerGuard fails requests whose answer doesn't begin. It is for a bottom of the
// stack that has no time limits of its own.
type headerGuard struct {
	layer
	limit time.Duration
}

// RoundTrip implements http.RoundTripper.
func (h *headerGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	silent := &StallError{URL: RedactURL(req.URL), Limit: h.limit}
	timer := time.AfterFunc(h.limit, func() { cancel(silent) })
	resp, err := h.next.RoundTrip(req.WithContext(ctx))
	inTime := timer.Stop()
	if err != nil {
		if !inTime && context.Cause(ctx) == error(silent) {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	resp.Request = req
	resp.Body = &cancellingBody{resp.Body, cancel}
	return resp, nil
}

// cancellingBody ends the context of its request when it is closed.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close implements io.Closer.
func (b *cancellingBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// SlowError says that a body came too slowly for too long, though it never stopped.
type SlowError struct {
	URL   string // redacted
	Limit string // what wasn't kept: "1024 bytes a second over 1m0s"
}

// Error implements error.
func (e *SlowError) Error() string {
	return fmt.Sprintf("the transfer from %s is too slow: it didn't keep to %s", e.URL, e.Limit)
}

// Code is "too_slow".
func (e *SlowError) Code() string { return "too_slow" }

// Timeout makes a SlowError a timeout in the sense of net.Error.
func (e *SlowError) Timeout() bool { return true }

// rateWindow is how long an archive may be slower than the minimum rate.
const rateWindow = time.Minute

// pace says how slowly bodies may come. Time counts while a Read waits, as for stalls.
type pace struct {
	document time.Duration // a whole body that isn't an archive's
	rate     int64         // bytes a second of an archive
	now      func() time.Time
}

// meter follows one body.
type meter struct {
	pace
	archive bool
	waited  time.Duration // for all of it, or since the window of an archive began
	read    int64         // likewise
}

// add counts what a Read brought, and says which limit is overstepped; "": none is.
func (m *meter) add(n int, took time.Duration) string {
	m.read += int64(n)
	m.waited += took
	switch {
	case !m.archive && m.waited > m.document:
		return fmt.Sprintf("%s for a document", m.document)
	case m.archive && m.waited >= rateWindow:
		slow := m.read < m.rate*int64(m.waited/time.Second)
		m.waited, m.read = 0, 0
		if slow {
			return fmt.Sprintf("%d bytes a second over %s", m.rate, rateWindow)
		}
	}
	return ""
}

// stallGuard fails the reading of bodies that stop coming, or come too slowly.
type stallGuard struct {
	layer
	limit time.Duration
	pace  pace
}

// RoundTrip implements http.RoundTripper.
func (s *stallGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err := s.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	stalled := &StallError{URL: RedactURL(req.URL), Limit: s.limit}
	timer := time.AfterFunc(s.limit, func() { cancel(stalled) })
	timer.Stop()
	resp.Request = req
	resp.Body = &guardedBody{body: resp.Body, ctx: ctx, cancel: cancel, timer: timer, stalled: stalled,
		meter: meter{pace: s.pace, archive: WantsOwnConnection(req.Context())}}
	return resp, nil
}

// guardedBody has a timer that runs while a Read waits, and only then: a
// consumer that takes its time doesn't make a stall. The timer ends the
// request's context, which makes the transport give up the connection and the Read.
type guardedBody struct {
	body    io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	stalled *StallError
	meter   meter
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.stalled.Limit)
	began := b.meter.now()
	n, err := b.body.Read(p)
	b.timer.Stop()
	if limit := b.meter.add(n, b.meter.now().Sub(began)); limit != "" && err == nil {
		err = &SlowError{URL: b.stalled.URL, Limit: limit}
		b.cancel(err)
		return n, err
	}
	// io.EOF included: what a server sends when it sees the connection go can look
	// like the end of the body.
	if err != nil && context.Cause(b.ctx) == error(b.stalled) {
		err = b.stalled
	}
	return n, err
}

// Close implements io.Closer.
func (b *guardedBody) Close() error {
	b.timer.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}
