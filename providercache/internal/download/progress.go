package download

import (
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// progressInterval is how often at most the progress of a download is told.
const progressInterval = 100 * time.Millisecond

// IsRemote reports whether an archive is somewhere else than on this machine's disks.
func IsRemote(at getproviders.Location) bool {
	switch at.(type) {
	case getproviders.HTTPArchive, getproviders.Archive:
		return true
	}
	return false
}

// meter wraps a reader so that its progress is told. So much has been done.
func (r Request) meter(from io.Reader, done, total int64) io.Reader {
	if r.Progress == nil {
		return from
	}
	r.Progress(done, total)
	return &meter{reader: from, done: done, total: total, tell: r.Progress, now: r.Now, last: r.Now()}
}

type meter struct {
	reader      io.Reader
	done, total int64
	tell        func(done, total int64)
	now         func() time.Time
	last        time.Time // of the last time it was told
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p)
	m.done += int64(n)
	if now := m.now(); err == io.EOF || now.Sub(m.last) >= progressInterval {
		m.last = now
		m.tell(m.done, m.total)
	}
	return n, err
}
