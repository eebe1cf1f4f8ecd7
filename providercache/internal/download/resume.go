package download

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// errStale says that a server doesn't have the rest of what it had the
// beginning of.
var errStale = errors.New("the server has another archive than before")

// resumableBody is an archive behind a URL. When a transfer breaks off, it requests
// the rest, as long as tries allows. It requests the package's own URL each time, so
// the URLs that it redirects to may expire. If its own has expired, Relocate knows another one.
type resumableBody struct {
	ctx     context.Context
	opening Opening
	at      getproviders.HTTPArchive // whose URL is good now

	body      io.ReadCloser // nil: the last request failed
	broken    error         // what the body ended with
	pos       int64         // of the body's next byte
	total     int64         // -1: not known
	validator validator
	combined  bool           // what was read comes from several responses
	restarted bool           // it has begun again
	failed    *http.Response // the last response, if it had no usable body; that is closed
	tries     tries
}

// openURL requests an archive from a position on, up to which an earlier run
// downloaded it. The server may send all of it nevertheless: see pos.
func (o Opening) openURL(ctx context.Context, at getproviders.HTTPArchive, from int64) (*resumableBody, error) {
	w := &resumableBody{ctx: ctx, opening: o, at: at, total: -1}
	err := w.ask(from)
	if errors.Is(err, errStale) {
		err = w.ask(0)
	}
	return w, w.wrap(err)
}

func (w *resumableBody) Length() int64   { return w.total }
func (w *resumableBody) position() int64 { return w.pos }

// Close implements io.Closer.
func (w *resumableBody) Close() error {
	if w.body == nil {
		return nil
	}
	err := w.body.Close()
	w.body = nil
	return err
}

// Read implements io.Reader. It returns io.EOF only at the length that the server
// announced, if it did. Other errors are ErrRestart, or final.
func (w *resumableBody) Read(p []byte) (int, error) {
	if w.broken == nil {
		n, err := w.body.Read(p)
		w.pos += int64(n)
		if err == io.EOF && w.pos < w.total {
			err = io.ErrUnexpectedEOF
		}
		w.broken = err
		if n > 0 || err == nil {
			return n, nil
		}
	}
	if w.broken == io.EOF {
		return 0, io.EOF
	}
	return 0, w.resume(w.broken)
}

// resume requests the rest after a transfer has broken off.
func (w *resumableBody) resume(cause error) error {
	cause = interrupted(w.at, w.pos, w.total, cause)
	for w.tries.another(w.pos) {
		from := w.pos
		if !w.validator.resumable(w.opening.Known) {
			from = 0
		}
		if from < w.pos && w.restarted {
			break
		}
		wait := hosts.RetryWait(w.opening.Client, w.tries.failures-1, w.failed)
		hosts.AnnounceRetry(w.ctx, w.opening.Client, hosts.Retry{
			Host: w.at.URL.Host, Attempt: w.tries.failures + 1, Attempts: maxFailures + 1, Wait: wait, Reason: hosts.RetryReason(w.failed, cause),
		})
		if err := par.Pause(w.ctx, wait); err != nil {
			return err
		}
		read := w.pos
		err := w.ask(from)
		switch {
		case err == nil:
			return w.accepted(read, cause)
		case errors.Is(err, errStale):
			w.validator = validator{}
		case !temporary(err):
			return w.wrap(err)
		default:
			cause = w.wrap(err)
		}
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return cause
}

// accepted decides how to continue with a response, after read bytes of the earlier
// one and the failure cause: with its next byte, from the first byte once, or not.
func (w *resumableBody) accepted(read int64, cause error) error {
	switch {
	case w.pos == read:
		return nil
	case w.restarted:
		return cause
	}
	w.restarted, w.tries.at = true, 0
	return ErrRestart
}

// Renew begins again, because what was read has the wrong checksum. It returns nil if
// that can't help, because all of it came in one response.
func (w *resumableBody) Renew() error {
	if !w.combined || w.restarted {
		return nil
	}
	w.restarted, w.tries.at = true, 0
	if err := w.ask(0); err != nil {
		return w.wrap(err)
	}
	return ErrRestart
}

// Modified implements Source.
func (w *resumableBody) Modified() time.Time {
	at, err := http.ParseTime(w.validator.modified)
	if err != nil {
		return time.Time{}
	}
	return at
}

// ask sends a request for the archive from a position on and accepts its response. If the server
// refuses the URL, which may have expired, and there is another one by now, it asks for that. The
// error is errStale if only the whole archive can be requested.
func (w *resumableBody) ask(from int64) error {
	err := w.askOnce(from)
	if status, ok := errors.AsType[*StatusError](err); ok && w.opening.Relocate != nil && mayHaveExpired(status.StatusCode) {
		at, failed := w.opening.Relocate(w.ctx)
		now, ok := at.(getproviders.HTTPArchive)
		if failed != nil || !ok || now.URL == nil || now.URL.String() == w.at.URL.String() {
			return err
		}
		w.at = now
		return w.askOnce(from)
	}
	return err
}

// mayHaveExpired reports whether servers answer with a status to a signed URL that has expired: 400 is Google's.
func mayHaveExpired(status int) bool { return hosts.Refuses(status) || status == http.StatusBadRequest }

// askOnce is ask for the URL that is known.
func (w *resumableBody) askOnce(from int64) error {
	w.Close()
	w.failed = nil
	req, err := newRequest(w.ctx, w.at)
	if err != nil {
		return err
	}
	if from > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
		if value := w.validator.ifRange(); value != "" {
			req.Header.Set("If-Range", value)
		}
	}
	resp, err := hosts.Do(w.opening.Client, req, maxRedirects)
	if err != nil {
		return err
	}
	if err := w.accept(resp, from); err != nil {
		resp.Body.Close()
		w.failed = resp
		return err
	}
	w.body, w.broken = resp.Body, nil
	return nil
}

// accept checks a response, and takes over its length and validator.
func (w *resumableBody) accept(resp *http.Response, from int64) error {
	if from > 0 && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return errStale
	}
	if from > 0 && resp.StatusCode == http.StatusPartialContent {
		return w.acceptRest(resp, from)
	}
	size, ok := hosts.HasAll(resp)
	status := http.StatusOK
	if ok {
		status = resp.StatusCode
	}
	if err := checkResponse(resp, status); err != nil {
		return err
	}
	w.pos, w.total, w.validator, w.combined = 0, size, validatorOf(resp.Header), false
	return nil
}

// acceptRest checks a response that should have the rest of an archive.
func (w *resumableBody) acceptRest(resp *http.Response, from int64) error {
	if err := checkResponse(resp, http.StatusPartialContent); err != nil {
		return err
	}
	start, total, ok := parseContentRange(resp.Header.Get("Content-Range"))
	now := validatorOf(resp.Header)
	if !ok || start != from || w.total >= 0 && total >= 0 && total != w.total || w.validator.differs(now) {
		return errStale
	}
	if w.total < 0 {
		w.total = total
	}
	if w.validator == (validator{}) { // an earlier run downloaded the beginning
		w.validator = now
		w.validator.ranges = true
	}
	w.pos, w.combined = from, true
	return nil
}

// wrap says how far the archive came if there was no response. The error about a response
// that is of no use stays as it is.
func (w *resumableBody) wrap(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if _, ok := errors.AsType[*hosts.RequestError](err); !ok {
		return err
	}
	return interrupted(w.at, w.pos, w.total, err)
}

// temporary reports whether a request that failed may succeed when it is repeated,
// given that an earlier one for the same archive succeeded.
func temporary(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		_, ok := errors.AsType[*hosts.RequestError](err)
		return ok
	}
	return status.StatusCode >= http.StatusInternalServerError ||
		status.StatusCode == http.StatusTooManyRequests || status.StatusCode == http.StatusRequestTimeout
}

// A transfer is resumed as long as that yields bytes, but not without limit.
const (
	maxTries    = 10 // in all
	maxFailures = 3  // in a row that yield no bytes
)

// tries counts how often a transfer is resumed.
type tries struct {
	made     int
	failures int   // in a row, the one that is being made included
	at       int64 // the transfer's position at the last one that yielded bytes
}

// another reports whether there may be one more, now that the transfer is at pos.
func (t *tries) another(pos int64) bool {
	if pos > t.at {
		t.at, t.failures = pos, 0
	}
	t.made++
	t.failures++
	return t.made <= maxTries && t.failures <= maxFailures
}
