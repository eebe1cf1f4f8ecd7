package hosts

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// requestLog makes one debug record for each attempt. Headers are left out, and
// URLs are redacted.
type requestLog struct {
	layer
	log *slog.Logger
	now func() time.Time // nil: no durations
}

// RoundTrip implements http.RoundTripper.
func (l *requestLog) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if !l.log.Enabled(ctx, slog.LevelDebug) {
		return l.next.RoundTrip(req)
	}
	elapsed := l.stopwatch()
	resp, err := l.next.RoundTrip(req)
	l.record(ctx, req, resp, err, elapsed())
	return resp, err
}

func (l *requestLog) record(ctx context.Context, req *http.Request, resp *http.Response, err error, took time.Duration) {
	attrs := []slog.Attr{
		slog.String("method", req.Method),
		slog.String("url", RedactURL(req.URL)),
		slog.Int("attempt", attemptsOf(ctx)),
	}
	if l.now != nil {
		attrs = append(attrs, slog.Duration("took", took))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	} else {
		attrs = append(attrs, slog.Int("status", resp.StatusCode), slog.String("protocol", resp.Proto))
	}
	l.log.LogAttrs(ctx, slog.LevelDebug, "HTTP request", attrs...)
}

// stopwatch starts to measure, if there is a clock.
func (l *requestLog) stopwatch() (elapsed func() time.Duration) {
	if l.now == nil {
		return func() time.Duration { return 0 }
	}
	start := l.now()
	return func() time.Duration { return l.now().Sub(start) }
}

// userAgent names the program in requests that don't name one.
type userAgent struct {
	layer
	name string
}

// RoundTrip implements http.RoundTripper.
func (u *userAgent) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("User-Agent") != "" {
		return u.next.RoundTrip(req)
	}
	named := req.Clone(req.Context())
	named.Header.Set("User-Agent", u.name)
	return u.next.RoundTrip(named)
}
