package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// inMemory is an archive in memory that announces a wrong size.
type inMemory struct {
	content []byte
	size    int64
}

func (inMemory) String() string { return "x.zip" }

func (m inMemory) Open(_ context.Context, offset int64) (opened getproviders.OpenedArchive, err error) {
	if offset > 0 {
		return opened, io.ErrClosedPipe
	}
	return getproviders.OpenedArchive{Body: io.NopCloser(bytes.NewReader(m.content)), Size: m.size}, nil
}

func TestFetcher_NoticesThatAStreamEndsEarly(t *testing.T) {
	t.Parallel()
	content := cachetest.ArchiveByGo(t, zip.Deflate)
	readAll := func(ctx context.Context, size int64) error {
		wanted := Request{Selection: getproviders.Selection{Provider: cachetest.TestProvider}, Package: getproviders.Package{Location: inMemory{content, size}}}
		_, err := Open(&Fetcher{Limits: testLimits, Now: time.Now}).FetchArchive(ctx, wanted, "", "")
		return err
	}
	must.Equal(t, readAll(t.Context(), int64(len(content))), nil)
	if err := readAll(t.Context(), int64(len(content))+1); err == nil || errors.Is(err, unpack.ErrNotStreamable) {
		t.Errorf("an archive that is shorter than promised: %v", err)
	}
	ctx, cancel := cachetest.ContextWithCause(t)
	cancel(cachetest.ErrStopped)
	must.Fail(t, readAll(ctx, int64(len(content))), cachetest.ErrStopped)
}
