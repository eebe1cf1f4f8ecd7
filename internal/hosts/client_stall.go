package hosts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errTooSlow says that an answer or its rest didn't arrive, or arrived too slowly.
var errTooSlow = errors.New("too slow")

// stalled returns the error of a transfer without data for limit. The connection has been closed.
func stalled(req *http.Request, limit time.Duration) error {
	return &Fault{ID: "stalled", Kind: errTooSlow, Err: fmt.Errorf("the transfer from %s stalled: no data for %s", RedactURL(req.URL), limit)}
}

// rateWindow is how long an archive may be below the minimum rate.
const rateWindow = time.Minute

// guarded returns an error if the answer doesn't begin within begin, or a body stalls or is too slow. begin is 0 if the
// transport has its own limit.
func guarded(opts *ClientOptions, begin time.Duration, req *http.Request, next send) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	silent := stalled(req, begin)
	if begin > 0 {
		defer time.AfterFunc(begin, func() { cancel(silent) }).Stop()
	}
	resp, err := next(req.WithContext(ctx))
	if err != nil {
		if context.Cause(ctx) == silent {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	b := &guardedBody{body: resp.Body, ctx: ctx, cancel: cancel, opts: opts, req: req, stalled: stalled(req, opts.StallTimeout)}
	b.timer = time.AfterFunc(opts.StallTimeout, func() { cancel(b.stalled) })
	b.timer.Stop()
	resp.Request, resp.Body = req, b
	return resp, nil
}

// guardedBody has a timer that runs only while a Read waits, because a slow consumer isn't a stall.
// The timer cancels the request's context, which makes the transport close the connection and end
// the Read.
type guardedBody struct {
	body    io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	opts    *ClientOptions
	req     *http.Request
	timer   *time.Timer
	stalled error
	waited  time.Duration // in Reads, for the whole document, or since an archive's window began
	read    int64         // bytes in the same time
}

// add counts a Read, and returns the limit that is exceeded, or "".
func (b *guardedBody) add(n int, took time.Duration) string {
	b.read += int64(n)
	b.waited += took
	switch archive := WantsOwnConnection(b.req.Context()); {
	case !archive && b.waited > b.opts.DocumentTimeout:
		return fmt.Sprintf("%s for a document", b.opts.DocumentTimeout)
	case archive && b.waited >= rateWindow:
		slow := b.read < b.opts.MinRate*int64(b.waited/time.Second)
		b.waited, b.read = 0, 0
		if slow {
			return fmt.Sprintf("%d bytes a second over %s", b.opts.MinRate, rateWindow)
		}
	}
	return ""
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.opts.StallTimeout)
	began := b.opts.Now()
	n, err := b.body.Read(p)
	b.timer.Stop()
	if limit := b.add(n, b.opts.Now().Sub(began)); limit != "" && err == nil { // the transfer continues, but too slowly
		err = &Fault{ID: "too_slow", Kind: errTooSlow, Err: fmt.Errorf("the transfer from %s is too slow: it didn't keep to %s", RedactURL(b.req.URL), limit)}
		b.cancel(err)
		return n, err
	}
	// Even after io.EOF: what a server sends when the connection closes can look like the end of
	// the body.
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
