package download

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wrapped"
)

// webOpener opens an archive behind a URL. When a transfer breaks off, it requests the rest,
// as often as tries allows. It always requests the package's own URL, so the URLs that it
// redirects to may expire. If its own URL has expired, Relocate returns a new one.
type webOpener struct {
	opening   Opening
	at        getproviders.HTTPArchive // with the current URL
	validator validator
	failed    *http.Response // the last response, if its body was of no use; it is closed
}

// resume implements opener.
func (w *webOpener) resume(b *body, cause error) error {
	cause = interrupted(w.at, b.pos, b.total, cause)
	for b.tries.another(b.pos) {
		from := b.pos
		if !w.validator.resumable(w.opening.Known) {
			from = 0
		}
		if from < b.pos && b.restarted {
			break
		}
		wait := hosts.RetryWait(w.opening.Client, b.tries.failures-1, w.failed)
		hosts.AnnounceRetry(b.ctx, w.opening.Client, hosts.Retry{
			Host: w.at.URL.Host, Attempt: b.tries.failures + 1, Attempts: maxFailures + 1, Wait: wait, Reason: hosts.RetryReason(w.failed, cause),
		})
		if err := par.Pause(b.ctx, wait); err != nil {
			return err
		}
		read := b.pos
		err := w.open(b, from)
		switch {
		case err == nil:
			return b.resumed(read, cause)
		case errors.Is(err, errStale):
			w.validator = validator{}
		case !temporary(err):
			return w.wrap(b, err)
		default:
			cause = w.wrap(b, err)
		}
	}
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return cause
}

func (w *webOpener) modified() time.Time {
	at, _ := http.ParseTime(w.validator.modified)
	return at
}

// open implements opener: it sends a request, and accepts its response. If the server refuses
// the URL, which may have expired, it asks Relocate for a new URL and requests that.
func (w *webOpener) open(b *body, from int64) error {
	err := w.ask(b, from)
	if status, ok := errors.AsType[*hosts.Fault](err); ok && mayHaveExpired(status.Status) {
		at, failed := w.opening.Relocate(b.ctx)
		now, ok := at.(getproviders.HTTPArchive)
		if failed != nil || !ok || now.URL == nil || now.URL.String() == w.at.URL.String() {
			return err
		}
		w.at = now
		return w.ask(b, from)
	}
	return err
}

// mayHaveExpired reports whether servers answer with this status to
// an expired signed URL; Google Cloud Storage sends 400.
func mayHaveExpired(status int) bool { return hosts.Refuses(status) || status == http.StatusBadRequest }

// ask is open with the current URL.
func (w *webOpener) ask(b *body, from int64) error {
	b.Close()
	w.failed = nil
	req, err := newRequest(b.ctx, w.at)
	if err != nil {
		return err
	}
	if from > 0 {
		req.Header.Set("Range", hosts.RangeOf(from, 0))
		if value := w.validator.ifRange(); value != "" {
			req.Header.Set("If-Range", value)
		}
	}
	resp, err := hosts.Do(w.opening.Client, req)
	if err != nil {
		return err
	}
	if err := w.accept(b, resp, from); err != nil {
		resp.Body.Close()
		w.failed = resp
		return err
	}
	b.reader, b.broken = resp.Body, nil
	return nil
}

// accept checks a response, and records its length and validator.
func (w *webOpener) accept(b *body, resp *http.Response, from int64) error {
	if from > 0 && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return errStale
	}
	if from > 0 && resp.StatusCode == http.StatusPartialContent {
		return w.acceptRest(b, resp, from)
	}
	size, ok := hosts.HasAll(resp)
	status := http.StatusOK
	if ok {
		status = resp.StatusCode
	}
	if err := checkResponse(resp, status); err != nil {
		return err
	}
	b.pos, b.total, w.validator, b.combined = 0, size, validatorOf(resp.Header), false
	return nil
}

// acceptRest checks a response with the rest of an archive.
func (w *webOpener) acceptRest(b *body, resp *http.Response, from int64) error {
	if err := checkResponse(resp, http.StatusPartialContent); err != nil {
		return err
	}
	start, _, total, ok := hosts.ContentRange(resp.Header.Get("Content-Range"))
	now := validatorOf(resp.Header)
	if !ok || start != from || b.total >= 0 && total >= 0 && total != b.total || w.validator.differs(now) {
		return errStale
	}
	if b.total < 0 {
		b.total = total
	}
	if w.validator == (validator{}) { // an earlier run downloaded the beginning
		w.validator = now
		w.validator.ranges = true
	}
	b.pos, b.combined = from, true
	return nil
}

// wrap implements opener. It adds how many bytes were read if there
// was no response. Errors about a response stay as they are.
func (w *webOpener) wrap(b *body, err error) error {
	if b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	if !errors.Is(err, hosts.ErrRequest) {
		return err
	}
	return interrupted(w.at, b.pos, b.total, err)
}

// temporary reports whether a failed request may succeed when it is
// repeated, given that an earlier one for the same archive succeeded.
func temporary(err error) bool {
	status, ok := errors.AsType[*hosts.Fault](err)
	if !ok || status.Status == 0 {
		return errors.Is(err, hosts.ErrRequest)
	}
	return status.Status >= http.StatusInternalServerError ||
		status.Status == http.StatusTooManyRequests || status.Status == http.StatusRequestTimeout
}

// validator identifies the version of an archive in a response, so
// that the rest of the same version can be requested.
type validator struct {
	etag, modified string // as in the header
	exact          bool   // modified is so old that a later change would have another time
	ranges         bool   // the server says that it supports ranges
}

func validatorOf(h http.Header) validator {
	e := validator{etag: h.Get("Etag"), modified: h.Get("Last-Modified"), ranges: h.Get("Accept-Ranges") == "bytes"}
	modified, err := http.ParseTime(e.modified)
	sent, sentErr := http.ParseTime(h.Get("Date"))
	e.exact = err == nil && sentErr == nil && sent.Sub(modified) >= time.Second
	return e
}

// ifRange returns the value for If-Range, by which the server sends the rest
// only if the archive hasn't changed. It has to change with every change of the
// archive: a strong ETag, or a date of some age; "" if there is neither.
func (e validator) ifRange() string {
	switch {
	case e.etag != "" && !strings.HasPrefix(e.etag, "W/"):
		return e.etag
	case e.etag == "" && e.exact:
		return e.modified
	default:
		return ""
	}
}

// resumable reports whether the rest can be requested. known says that the checksum
// is known, so that parts of different archives are detected at the end.
func (e validator) resumable(known bool) bool {
	return e.ifRange() != "" || known && (e.ranges || e.etag != "" || e.modified != "")
}

// differs reports whether another response certainly has another version of the archive.
func (e validator) differs(other validator) bool {
	return e.etag != "" && other.etag != "" && e.etag != other.etag ||
		e.modified != "" && other.modified != "" && e.modified != other.modified
}

// reopenPause is the pause before an archive is reopened, doubled for
// each further attempt in a row that yields no bytes.
const reopenPause = 100 * time.Millisecond

// locationOpener opens an archive by its Location.
type locationOpener struct {
	at        getproviders.Archive
	known     bool // the checksum is known, so that parts of different archives are detected
	validator string
	changed   time.Time
}

func (l *locationOpener) modified() time.Time { return l.changed }

// resume implements opener. If reopening fails, it doesn't retry: the Location's Open does that if it helps.
func (l *locationOpener) resume(b *body, cause error) error {
	if !b.tries.another(b.pos) {
		return l.wrap(b, cause)
	}
	if err := par.Pause(b.ctx, reopenPause<<(b.tries.failures-1)); err != nil {
		return err
	}
	read := b.pos
	err := l.open(b, read)
	if errors.Is(err, errStale) {
		err = l.open(b, 0)
	}
	if err != nil {
		return l.wrap(b, err)
	}
	return b.resumed(read, l.wrap(b, cause))
}

// open implements opener.
func (l *locationOpener) open(b *body, from int64) error {
	b.Close()
	opened, err := l.at.Open(b.ctx, from)
	if err != nil {
		return err
	}
	b.reader, l.changed, b.broken = opened.Body, opened.Modified, nil
	begins := from > 0 && opened.Offset == 0
	sized := b.total >= 0 && opened.Size >= 0
	same := l.validator != "" && l.validator == opened.Validator
	switch {
	case opened.Body == nil:
		return errors.New("it opened nothing")
	case opened.Offset != from && from == 0:
		return fmt.Errorf("it opened at byte %d, not at the first one", opened.Offset)
	case opened.Offset != from && !begins:
		return errStale
	case from == 0 || begins:
		b.pos, b.total, l.validator, b.combined = 0, opened.Size, opened.Validator, false
		return nil
	case sized && b.total != opened.Size, !same && (!l.known || l.validator != "" && opened.Validator != ""):
		return errStale
	}
	if b.total < 0 {
		b.total, l.validator = opened.Size, opened.Validator
	}
	b.pos, b.combined = from, true
	return nil
}

// wrap implements opener.
func (l *locationOpener) wrap(b *body, err error) error {
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case b.pos > 0:
		return interrupted(l.at, b.pos, b.total, err)
	}
	return wrapped.About(l.at.String(), err)
}
