package providercache

import (
	"context"
	"io"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// progressInterval is how often at most the progress of a download is told.
const progressInterval = 100 * time.Millisecond

// progress returns how the receiving of a package is told; nil if it isn't.
// Packages from the same machine have no progress to speak of.
func (f *Fetcher) progress(ctx context.Context, t task) func(done, total int64) {
	if !isWeb(t.Package.Location) || f.Observe == nil {
		return nil
	}
	return func(done, total int64) {
		f.emit(ctx, FetchProgress{Provider: t.Provider, Version: t.Version, Done: done, Total: total})
	}
}

func isWeb(at getproviders.Location) bool {
	_, ok := at.(getproviders.HTTPArchive)
	return ok
}

// meter wraps a reader so that its progress is told. So much has been done.
func (f *Fetcher) meter(r io.Reader, done, total int64, tell func(done, total int64)) io.Reader {
	if tell == nil {
		return r
	}
	tell(done, total)
	return &meter{reader: r, done: done, total: total, tell: tell, now: f.now, last: f.now()}
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
