package download

import (
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

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

// meter wraps a reader so that its progress is reported. done bytes of total have
// been read already.
func (r Request) meter(from io.Reader, done, total int64) io.Reader {
	if r.Progress == nil {
		return from
	}
	r.Progress(done, total)
	return &meter{reader: from, done: done, total: total, report: r.Progress, now: r.Now, last: r.Now()}
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
