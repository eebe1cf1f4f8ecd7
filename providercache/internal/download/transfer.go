package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// TransferError says that an archive couldn't be downloaded, or only a part of it,
// after all attempts to resume. It matches
// getproviders.ErrUnreachable and what the network said last.
type TransferError struct {
	Archive     string // its URL, without secrets
	Done, Total int64  // bytes; Total is -1 if unknown
	Err         error
}

// Error implements error. An Err that came before the first byte names the URL.
func (e *TransferError) Error() string {
	if e.Done == 0 && e.Total < 0 {
		return e.Err.Error()
	}
	return Incomplete(e.Archive, e.Done, e.Total, e.Err).Error()
}

// Hint says what becomes of the bytes that came.
func (e *TransferError) Hint() string {
	if e.Done == 0 {
		return ""
	}
	return "the connection broke. Run again: if the server supports it, only the rest is downloaded"
}

// Code is that of the cause, or "unreachable".
func (e *TransferError) Code() string {
	if code := getproviders.CodeOf(e.Err); code != "" {
		return code
	}
	return "unreachable"
}

// Unwrap returns getproviders.ErrUnreachable and the cause.
func (e *TransferError) Unwrap() []error { return []error{getproviders.ErrUnreachable, e.Err} }

// Incomplete adds to an error how much of an archive had been downloaded.
func Incomplete(archive string, size, total int64, err error) error {
	if total < 0 {
		return fmt.Errorf("%s: after %d bytes: %w", archive, size, err)
	}
	return fmt.Errorf("%s: after %d of %d bytes: %w", archive, size, total, err)
}

// TransferFailure adds to an error how much of an archive had been downloaded, unless
// the error says so itself or isn't about the transfer.
func TransferFailure(ctx context.Context, at getproviders.Location, size, total int64, err error) error {
	_, ok := errors.AsType[*TransferError](err)
	if ok || errors.Is(err, ErrRestart) || ctx.Err() != nil {
		return err
	}
	return Incomplete(at.String(), size, total, err)
}

// progressInterval is the least time between two reports of a download's progress.
const progressInterval = 100 * time.Millisecond

// IsRemote reports whether an archive isn't a file on this machine.
func IsRemote(at getproviders.Location) bool {
	switch at.(type) {
	case getproviders.HTTPArchive, getproviders.Archive:
		return true
	}
	return false
}

// Metered wraps a reader so that its progress is reported, at most ten times a second. done
// bytes of total have been read already. Without report, it is the reader itself.
func Metered(from io.Reader, done, total int64, now func() time.Time, report func(done, total int64)) io.Reader {
	if report == nil {
		return from
	}
	report(done, total)
	return &meter{reader: from, done: done, total: total, report: report, now: now, last: now()}
}

type meter struct {
	reader      io.Reader
	done, total int64
	report      func(done, total int64)
	now         func() time.Time
	last        time.Time // when progress was last reported
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p)
	m.done += int64(n)
	if now := m.now(); err == io.EOF || now.Sub(m.last) >= progressInterval {
		m.last = now
		m.report(m.done, m.total)
	}
	return n, err
}
