package download

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

var (
	// errStale says that a server doesn't have the rest of what it had the
	// beginning of.
	errStale = errors.New("the server has another archive than before")
	// errStartOver says that a source goes on with the first byte of the
	// archive: what has been read so far is worth nothing.
	ErrRestart = errors.New("the archive begins again")
)

// web is an archive behind a URL. Reading it goes on where a transfer breaks
// off, as long as there is hope. The URL that the package's description has is
// asked each time, so what it redirects to may expire.
type resumableBody struct {
	ctx    context.Context
	client *http.Client
	at     getproviders.HTTPArchive
	sure   bool // what was put together wrongly is found out: the checksum is known

	body    io.ReadCloser // nil: the last request failed
	broken  error         // what the body ended with
	pos     int64         // of the body's next byte
	total   int64         // -1: not known
	edition validator
	patched bool           // what was read comes from several answers
	again   bool           // it has begun again
	failed  *http.Response // the last answer, if it was none to read from; its body is closed
	tries   tries
}

// openWeb asks for an archive from a position on, up to which an earlier run
// got. The server may send all of it even so: see pos.
func openWeb(ctx context.Context, client *http.Client, at getproviders.HTTPArchive, from int64, sure bool) (*resumableBody, error) {
	w := &resumableBody{ctx: ctx, client: client, at: at, sure: sure, total: -1}
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

// Read implements io.Reader. The end is told only where the server said it
// would be. The error is errStartOver, or final.
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

// resume finds something to read on from after a transfer has broken off.
func (w *resumableBody) resume(cause error) error {
	cause = &TransferError{Archive: w.at.String(), Done: w.pos, Total: w.total, Err: cause}
	for w.tries.another(w.pos) {
		from := w.pos
		if !w.edition.resumable(w.sure) {
			from = 0
		}
		if from < w.pos && w.again {
			break
		}
		if err := par.Pause(w.ctx, hosts.RetryWait(w.client, w.tries.barren-1, w.failed)); err != nil {
			return err
		}
		read := w.pos
		err := w.ask(from)
		switch {
		case err == nil:
			return w.goOn(read, cause)
		case errors.Is(err, errStale):
			w.edition = validator{}
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

// goOn decides what an answer is good for after so much was read, and the rest
// was lost because of cause.
func (w *resumableBody) goOn(read int64, cause error) error {
	switch {
	case w.pos == read:
		return nil
	case w.again:
		return cause
	}
	w.again, w.tries.at = true, 0
	return ErrRestart
}

// renew begins again, because what was read has the wrong checksum. nil: that
// is of no use, because it came in one piece.
func (w *resumableBody) Renew() error {
	if !w.patched || w.again {
		return nil
	}
	w.again, w.tries.at = true, 0
	if err := w.ask(0); err != nil {
		return w.wrap(err)
	}
	return ErrRestart
}

// ask sends a request for the archive from a position on and takes what the
// answer has. errStale: ask for all of it.
func (w *resumableBody) ask(from int64) error {
	w.Close()
	w.failed = nil
	req, err := newRequest(w.ctx, w.at)
	if err != nil {
		return err
	}
	if from > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(from, 10)+"-")
		if condition := w.edition.ifRange(); condition != "" {
			req.Header.Set("If-Range", condition)
		}
	}
	resp, err := hosts.Do(w.client, req, maxRedirects)
	if err != nil {
		return err
	}
	if err := w.take(resp, from); err != nil {
		resp.Body.Close()
		w.failed = resp
		return err
	}
	w.body, w.broken = resp.Body, nil
	return nil
}

// take judges an answer.
func (w *resumableBody) take(resp *http.Response, from int64) error {
	if from > 0 && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return errStale
	}
	if from > 0 && resp.StatusCode == http.StatusPartialContent {
		return w.takeRest(resp, from)
	}
	if err := checkResponse(resp, http.StatusOK); err != nil {
		return err
	}
	w.pos, w.total, w.edition, w.patched = 0, resp.ContentLength, validatorOf(resp.Header), false
	return nil
}

// takeRest judges an answer that should have the rest of an archive.
func (w *resumableBody) takeRest(resp *http.Response, from int64) error {
	if err := checkResponse(resp, http.StatusPartialContent); err != nil {
		return err
	}
	start, total, ok := parseContentRange(resp.Header.Get("Content-Range"))
	now := validatorOf(resp.Header)
	if !ok || start != from || w.total >= 0 && total >= 0 && total != w.total || w.edition.differs(now) {
		return errStale
	}
	if w.total < 0 {
		w.total = total
	}
	if w.edition == (validator{}) { // an earlier run got the beginning
		w.edition = now
		w.edition.ranges = true
	}
	w.pos, w.patched = from, true
	return nil
}

// wrap makes it a *TransferError that there is no answer. An answer that is
// none of use says so itself.
func (w *resumableBody) wrap(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if _, ok := errors.AsType[*hosts.RequestError](err); !ok {
		return err
	}
	return &TransferError{Archive: w.at.String(), Done: w.pos, Total: w.total, Err: err}
}

// temporary reports whether a request may succeed later that has failed now,
// after an earlier one for the same archive succeeded.
func temporary(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		_, ok := errors.AsType[*hosts.RequestError](err)
		return ok
	}
	return status.Code >= http.StatusInternalServerError ||
		status.Code == http.StatusTooManyRequests || status.Code == http.StatusRequestTimeout
}

// A transfer is resumed as long as that brings bytes, but not for ever.
const (
	mostTries  = 10 // in all
	mostBarren = 3  // one after the other that bring nothing
)

// tries counts how often a transfer is resumed.
type tries struct {
	made, barren int
	at           int64 // how far the transfer was at the last one
}

// another reports whether there may be one more, now that the transfer is at pos.
func (t *tries) another(pos int64) bool {
	if pos > t.at {
		t.at, t.barren = pos, 0
	}
	t.made++
	t.barren++
	return t.made <= mostTries && t.barren <= mostBarren
}
