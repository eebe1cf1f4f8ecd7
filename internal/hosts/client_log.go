package hosts

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/internal/par"
)

// LevelTrace is the level of the record that a client makes when it sends a request; the
// one that it makes when the answer has ended is of slog.LevelDebug.
const LevelTrace = slog.LevelDebug - 4

// logged makes one debug record for an attempt, when its answer was read, or left, or when
// there is none. Headers are left out, and URLs are redacted.
func logged(opts *ClientOptions, req *http.Request, next send) (*http.Response, error) {
	ctx := req.Context()
	if opts.Log == nil || !opts.Log.Enabled(ctx, slog.LevelDebug) {
		return next(req)
	}
	r := &requestRecord{opts: opts, req: req, began: opts.Now(), about: []slog.Attr{
		slog.String("method", req.Method),
		slog.String("url", RedactURL(req.URL)),
		slog.Int("attempt", attemptsOf(ctx)),
	}}
	r.write = sync.OnceFunc(r.writeNow)
	opts.Log.LogAttrs(ctx, LevelTrace, "HTTP request sent", r.about...)
	resp, err := next(req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: r.gotConn})))
	if err != nil {
		r.body.End(err)
		r.write()
		return nil, err
	}
	r.header = opts.Now().Sub(r.began)
	resp.Request = req // without the trace
	r.resp = resp
	resp.Body = &recordedBody{ReadCloser: resp.Body, record: r}
	return resp, nil
}

// requestRecord is what becomes the record of an attempt.
type requestRecord struct {
	opts   *ClientOptions
	req    *http.Request
	about  []slog.Attr    // which attempt it is
	resp   *http.Response // nil: there is none
	began  time.Time
	header time.Duration // until the header was there

	body             par.Mark    // the bytes of the body
	connected, fresh atomic.Bool // the transport tells of connections; this one is new
	write            func()      // makes the record, at the first call
}

// gotConn is called by the transport, on any goroutine.
func (r *requestRecord) gotConn(info httptrace.GotConnInfo) {
	r.fresh.Store(!info.Reused)
	r.connected.Store(true)
}

// writeNow makes the record. The error is that of the attempt or of its body.
func (r *requestRecord) writeNow() {
	bytes, err := r.body.At()
	attrs := append(r.about, slog.Duration("took", r.opts.Now().Sub(r.began)))
	if r.resp != nil {
		attrs = append(attrs, slog.Int("status", r.resp.StatusCode), slog.Int64("bytes", bytes), slog.String("protocol", r.resp.Proto),
			slog.Duration("header_after", r.header))
	}
	if r.connected.Load() {
		attrs = append(attrs, slog.Bool("reused", !r.fresh.Load()))
	}
	if err != nil && (r.resp == nil || err != io.EOF) {
		// Transports don't name the URL in their errors, but one that a program brings along may.
		attrs = append(attrs, slog.String("error", strings.ReplaceAll(withoutURL(err).Error(), r.req.URL.String(), RedactURL(r.req.URL))))
	}
	r.opts.Log.LogAttrs(context.WithoutCancel(r.req.Context()), slog.LevelDebug, "HTTP request", attrs...)
}

// recordedBody counts what is read of an answer.
type recordedBody struct {
	io.ReadCloser
	record *requestRecord
}

// Read implements io.Reader.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.record.body.Advance(int64(n))
	if err != nil {
		b.record.body.End(err)
		b.record.write()
	}
	return n, err
}

// Close implements io.Closer.
func (b *recordedBody) Close() error {
	err := b.ReadCloser.Close()
	b.record.write()
	return err
}
