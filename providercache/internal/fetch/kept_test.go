package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// served is a transport that serves one archive, and counts requests.
type served struct {
	content  []byte
	requests atomic.Int64
}

func (s *served) RoundTrip(req *http.Request) (*http.Response, error) {
	s.requests.Add(1)
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Header: http.Header{}, ContentLength: int64(len(s.content)),
		Body: io.NopCloser(bytes.NewReader(s.content)),
	}, nil
}

var testLimits = Limits{Queries: 2, Downloads: 2, PerHost: 2, Unpacks: 2, Package: unpack.Limits{Bytes: 1 << 20, Files: 10}}

// keeping is a Fetcher with an ArchiveDir, and a request for an archive.
func keeping(t *testing.T) (f *Fetcher, web *served, r Request, kept string) {
	t.Helper()
	web = &served{content: cachetest.ArchiveByGo(t, zip.Deflate)}
	sum := sha256.Sum256(web.content)
	f = Open(&Fetcher{Client: &http.Client{Transport: web}, Limits: testLimits, Now: time.Now, ArchiveDir: filepath.Join(t.TempDir(), "archives")})
	r = Request{Selection: getproviders.Selection{Provider: cachetest.TestProvider}, Package: getproviders.Package{
		Location: getproviders.HTTPArchive{URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/a.zip"}},
		Trust:    getproviders.TrustedBy(getproviders.AnyHash{getproviders.ZH(sum)}),
	}}
	return f, web, r, filepath.Join(f.ArchiveDir, hex.EncodeToString(sum[:]))
}

// uses are the reasons for which a package is fetched: its hashes, its archive, its files.
func uses(t *testing.T, f *Fetcher, r Request) []func(context.Context) error {
	fetch := func(ctx context.Context, unpack bool) error {
		stage, err := staging.New(t.TempDir())
		if err != nil {
			return err
		}
		defer stage.Remove()
		dir := ""
		if unpack {
			dir = stage.PackagePath()
		}
		_, err = f.FetchArchive(ctx, r, stage.ArchivePath(), dir)
		return err
	}
	return []func(context.Context) error{
		func(ctx context.Context) error { return must.ErrorOf(f.HashPackage(ctx, r)) },
		func(ctx context.Context) error { return fetch(ctx, false) },
		func(ctx context.Context) error { return fetch(ctx, true) },
	}
}

func TestArchiveDir_OneDownloadForAllUses(t *testing.T) {
	t.Parallel()
	for first := range 3 {
		f, web, r, kept := keeping(t)
		all := uses(t, f, r)
		for n := range 6 {
			must.Succeed(t, all[(first+n)%3](t.Context()))
		}
		must.Equal(t, web.requests.Load(), 1, first)
		left := must.Get(os.ReadDir(f.ArchiveDir))(t)
		must.Len(t, left, 1)
		must.Equal(t, left[0].Name(), filepath.Base(kept))
	}
}

func TestArchiveDir_WhatIsWrongIsDownloadedAgain(t *testing.T) {
	t.Parallel()
	f, web, r, kept := keeping(t)
	for i, use := range uses(t, f, r) {
		must.Succeed(t, os.MkdirAll(f.ArchiveDir, 0o755))
		_ = os.Remove(kept)
		must.Succeed(t, errors.Join(os.WriteFile(kept, []byte("something else"), 0o600), use(t.Context())))
		must.Equal(t, web.requests.Load(), int64(i+1))
		must.Equal(t, cachetest.ContentOf(t, kept), string(web.content))
	}
}

// A package that is refused for another reason isn't downloaded again.
func TestArchiveDir_KeepsWhatIsRefused(t *testing.T) {
	t.Parallel()
	f, web, r, _ := keeping(t)
	must.Succeed(t, uses(t, f, r)[0](t.Context()))
	r.Recorded = []getproviders.Hash{"zh:" + getproviders.Hash(hex.EncodeToString(make([]byte, 32)))}
	for _, use := range uses(t, f, r) {
		must.Fail(t, use(t.Context()), getproviders.ErrLockMismatch)
	}
	must.Equal(t, web.requests.Load(), 1)
}

// A package without a date that is refused for its age gets older
// between runs, although it leaves no receipt.
func TestFetcher_RefusedPackageAgesFromItsFirstFetch(t *testing.T) {
	f, _, r, _ := keeping(t)
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now, refused := first, errors.New("too young")
	var released []time.Time
	f.ArchiveDir, f.StateDir, f.Now = "", t.TempDir(), func() time.Time { return now }
	f.Policy = func(_ context.Context, c getproviders.Candidate) error {
		released = append(released, c.Released)
		return refused
	}
	fetch := uses(t, f, r)
	for _, use := range fetch {
		now = now.Add(time.Hour)
		if err := use(t.Context()); err != nil && !errors.Is(err, getproviders.ErrRefused) {
			t.Fatal(err)
		}
	}
	if len(released) < 2 {
		t.Fatalf("the policy was asked about %v", released)
	}
	for _, at := range released {
		must.Equal(t, at, first.Add(time.Hour))
	}
}
