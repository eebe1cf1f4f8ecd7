package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// interrupted returns the error for an archive of which nothing or only a part could be downloaded,
// after all attempts to resume. It matches getproviders.ErrUnreachable and the last network error,
// which names the URL if it came before the first byte. total is -1 if unknown.
func interrupted(at getproviders.Location, done, total int64, err error) error {
	failed := &getproviders.Fault{Code: cmp.Or(getproviders.CodeOf(err), "unreachable"), Kind: getproviders.ErrUnreachable, Err: err}
	if done > 0 || total >= 0 {
		failed.Err = incomplete(at.String(), done, total, err)
	}
	if done > 0 {
		failed.Hint = "the connection broke. Run again: if the server supports it, only the rest is downloaded"
	}
	return failed
}

// incomplete adds to an error how many bytes of an archive were downloaded.
func incomplete(archive string, size, total int64, err error) error {
	if total < 0 {
		return fmt.Errorf("%s: after %d bytes: %w", archive, size, err)
	}
	return fmt.Errorf("%s: after %d of %d bytes: %w", archive, size, total, err)
}

// transferFailure adds to an error how many bytes of an archive were
// downloaded, unless the error already says so or isn't about the transfer.
func transferFailure(ctx context.Context, at getproviders.Location, size, total int64, err error) error {
	if getproviders.FaultOf(err, getproviders.ErrUnreachable) != nil || errors.Is(err, errRestart) || ctx.Err() != nil {
		return err
	}
	return incomplete(at.String(), size, total, err)
}

// progressInterval is the time between two reports of a download's progress.
const progressInterval = 100 * time.Millisecond

// IsRemote reports whether an archive isn't a file on this machine.
func IsRemote(at getproviders.Location) bool {
	switch at.(type) {
	case getproviders.HTTPArchive, getproviders.Archive:
		return true
	}
	return false
}

// metered wraps a reader so that its progress is reported: at the first read, whenever the bytes have
// doubled since (a stall after a burst hides at most half), and ten times a second. done bytes
// of total have been read already. If report is nil, it returns the reader itself.
func metered(from io.Reader, done, total int64, now func() time.Time, report func(done, total int64)) io.Reader {
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
	told        int64     // what was reported then; 0: no read yet
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p)
	m.done += int64(n)
	if now := m.now(); err == io.EOF && m.done > m.told || m.done > 2*m.told || now.Sub(m.last) >= progressInterval {
		m.last, m.told = now, m.done
		m.report(m.done, m.total)
	}
	return n, err
}
