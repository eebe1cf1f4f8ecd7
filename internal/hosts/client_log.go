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

// LevelTrace is the level of the record that a client writes when it sends a request; the record
// after the answer has slog.LevelDebug.
const LevelTrace = slog.LevelDebug - 4

// logged writes one debug record for an attempt, when its answer has been read or closed, or after
// an error. It omits headers, and redacts URLs.
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

// requestRecord collects the record of an attempt.
type requestRecord struct {
	opts   *ClientOptions
	req    *http.Request
	about  []slog.Attr    // identifies the attempt
	resp   *http.Response // nil without an answer
	began  time.Time
	header time.Duration // until the header arrived

	body             par.Mark    // bytes read
	connected, fresh atomic.Bool // the transport reported a connection; it is new
	write            func()      // writes the record, at the first call
}

// gotConn is called by the transport, from any goroutine.
func (r *requestRecord) gotConn(info httptrace.GotConnInfo) {
	r.fresh.Store(!info.Reused)
	r.connected.Store(true)
}

// writeNow writes the record, with the error of the attempt or of its body.
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
		// net/http's transports don't name the URL in their errors, but a program's own may.
		attrs = append(attrs, slog.String("error", strings.ReplaceAll(WithoutURL(err).Error(), r.req.URL.String(), RedactURL(r.req.URL))))
	}
	r.opts.Log.LogAttrs(context.WithoutCancel(r.req.Context()), slog.LevelDebug, "HTTP request", attrs...)
}

// recordedBody counts the bytes that are read.
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
