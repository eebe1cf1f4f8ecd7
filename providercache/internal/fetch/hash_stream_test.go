package fetch

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// inMemory is an archive in memory.
type inMemory struct {
	*bytes.Reader
	size int64
}

func (inMemory) Close() error        { return nil }
func (m inMemory) Length() int64     { return m.size }
func (inMemory) Renew() error        { return nil }
func (inMemory) Modified() time.Time { return time.Time{} }

func TestFetcher_NoticesThatAStreamEndsEarly(t *testing.T) {
	t.Parallel()
	content := cachetest.ArchiveByGo(t, zip.Deflate)
	readAll := func(ctx context.Context, size int64) error {
		wanted := Request{Selection: getproviders.Selection{Provider: cachetest.TestProvider}, Package: getproviders.Package{Location: getproviders.LocalArchive("x.zip")}}
		_, _, err := Open(&Fetcher{Limits: testLimits, Now: time.Now}).readSource(ctx, wanted, inMemory{bytes.NewReader(content), size})
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
