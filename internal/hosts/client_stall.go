package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errTooSlow says that an answer, or the rest of one, didn't come, or came too slowly.
var errTooSlow = errors.New("too slow")

// stalled says that there was no byte for so long. The connection has been dropped.
func stalled(req *http.Request, limit time.Duration) error {
	return &Fault{ID: "stalled", Kind: errTooSlow, Err: fmt.Errorf("the transfer from %s stalled: no data for %s", RedactURL(req.URL), limit)}
}

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

// stallGuard fails requests whose answer doesn't begin, and the reading of bodies that stop coming, or come too slowly.
type stallGuard struct {
	layer
	begin time.Duration // for the beginning of an answer; 0: what is below has a limit for that
	limit time.Duration
	pace  pace
}

// RoundTrip implements http.RoundTripper.
func (s *stallGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	silent := stalled(req, s.begin)
	if s.begin > 0 {
		defer time.AfterFunc(s.begin, func() { cancel(silent) }).Stop()
	}
	resp, err := s.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		if context.Cause(ctx) == silent {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	b := &guardedBody{body: resp.Body, ctx: ctx, cancel: cancel, guard: s, req: req, stalled: stalled(req, s.limit), meter: meter{pace: s.pace, archive: WantsOwnConnection(req.Context())}}
	b.timer = time.AfterFunc(s.limit, func() { cancel(b.stalled) })
	b.timer.Stop()
	resp.Request, resp.Body = req, b
	return resp, nil
}

// guardedBody has a timer that runs while a Read waits, and only then: a
// consumer that takes its time doesn't make a stall. The timer ends the
// request's context, which makes the transport give up the connection and the Read.
type guardedBody struct {
	body    io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	guard   *stallGuard
	req     *http.Request
	timer   *time.Timer
	stalled error
	meter   meter
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.guard.limit)
	began := b.meter.now()
	n, err := b.body.Read(p)
	b.timer.Stop()
	if limit := b.meter.add(n, b.meter.now().Sub(began)); limit != "" && err == nil { // though it never stopped
		err = &Fault{ID: "too_slow", Kind: errTooSlow, Err: fmt.Errorf("the transfer from %s is too slow: it didn't keep to %s", RedactURL(b.req.URL), limit)}
		b.cancel(err)
		return n, err
	}
	// io.EOF included: what a server sends when it sees the connection go can look
	// like the end of the body.
	if err != nil && context.Cause(b.ctx) == b.stalled {
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
