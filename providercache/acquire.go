package providercache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// obtain makes the package, with all checks passed, in the stage.
func (f *Fetcher) obtain(ctx context.Context, t task, stage *staging.Stage) (genuine, error) {
	switch at := t.Package.Location.(type) {
	case getproviders.LocalDirectory:
		return f.obtainDirectory(ctx, t, string(at), stage)
	case getproviders.LocalArchive, getproviders.HTTPArchive, getproviders.Archive:
		return f.obtainArchive(ctx, t, stage.ArchivePath(), stage.PackagePath(), f.progress(ctx, t))
	default:
		return genuine{}, t.failed(StepFetch, fmt.Errorf("can't fetch from a location of type %T", at))
	}
}

// obtainArchive receives an archive and unpacks it to dir, or only hashes
// what is in it if dir is "".
func (f *Fetcher) obtainArchive(ctx context.Context, t task, path, dir string, progress func(done, total int64)) (genuine, error) {
	received, onTheWay, trust, err := f.receive(ctx, t, path, dir, progress)
	if err != nil {
		return genuine{}, err
	}
	defer received.Discard()
	digests := getproviders.Digests{SHA256: received.SHA256}
	authentication, err := t.judge(trust.Authenticator, digests, f.Product)
	undecided := errors.Is(err, errNeedsH1)
	if err != nil && !undecided {
		return genuine{}, err
	}
	content, err := f.unpack(ctx, t, received, onTheWay, dir)
	if err != nil {
		return genuine{}, err
	}
	if undecided {
		digests.H1, digests.H1Archive = content.H1, content.H1Archive
		if authentication, err = t.judge(trust.Authenticator, digests, f.Product); err != nil {
			return genuine{}, err
		}
	}
	return genuine{
		Authentication: authentication, H1: content.H1, H1Archive: content.OtherH1(),
		ZH: getproviders.ZH(received.SHA256), Origin: t.origin(), ArchiveBytes: received.Size, Told: t.otherRegistryHashes(trust),
	}, nil
}

// receive gets the archive and what it is judged by, both at the same time. On
// its way the archive is unpacked to dir; onTheWay is nil if that came to nothing.
// The caller discards the archive.
func (f *Fetcher) receive(ctx context.Context, t task, path, dir string, progress func(done, total int64)) (received download.Archive, onTheWay unpack.Streamed, trust getproviders.Trust, err error) {
	gates, err := f.gates(ctx)
	if err != nil {
		return download.Archive{}, nil, getproviders.Trust{}, t.failed(StepFetch, err)
	}
	request := f.downloadRequest(t, path)
	request.Progress = progress
	request.Restart = func() error {
		if dir == "" {
			return nil
		}
		return os.RemoveAll(dir)
	}
	request.Follow = func(ctx context.Context, file io.ReaderAt, mark *par.Mark, size int64) {
		onTheWay = unpack.Stream(unpack.NewTailReader(ctx, file, mark, gates.unpacks, size), dir, f.Limits.unpack())
	}
	download := func(ctx context.Context) (err error) {
		leave, err := gates.enter(ctx, t)
		if err == nil {
			defer leave()
			request.Received = leave
			received, err = download.Fetch(ctx, request)
		}
		if err != nil {
			return t.failed(StepFetch, err)
		}
		return nil
	}
	load := func(ctx context.Context) (err error) {
		trust, err = t.loadTrust(ctx)
		return err
	}
	err = par.Together(ctx, load, download)
	if err != nil { // it may be here, and what it is judged by isn't
		received.Keep()
	}
	return received, onTheWay, trust, err
}

// progress returns how the receiving of a package is told; nil if it isn't.
// Packages from the same machine have no progress to speak of.
func (f *Fetcher) progress(ctx context.Context, t task) func(done, total int64) {
	if !download.IsRemote(t.Package.Location) || f.Observe == nil {
		return nil
	}
	return func(done, total int64) {
		f.emit(ctx, FetchProgress{Provider: t.Provider, Version: t.Version, Done: done, Total: total})
	}
}

// downloadRequest is for a package's archive, to be written to path.
func (f *Fetcher) downloadRequest(t task, path string) download.Request {
	expected, known := t.expected()
	return download.Request{
		Location: t.Package.Location, Client: f.client(), Expected: expected, Known: known, Limit: f.Limits.unpack().Bytes,
		Path: path, PartialDir: t.Partials, Now: f.now,
	}
}

// loadTrust gets what the package is authenticated by.
func (t task) loadTrust(ctx context.Context) (getproviders.Trust, error) {
	if t.localTrust() {
		return t.Package.Trust, nil
	}
	trust, err := t.Package.Trust.Loaded(ctx)
	if err != nil {
		return getproviders.Trust{}, t.failed(StepAuthenticate, err)
	}
	return trust, nil
}

// localTrust is for a package of which a source might know more if it were asked,
// where that wouldn't be news: the lock file has hashes of archives already.
func (t task) localTrust() bool {
	return t.Package.Trust.LocalTrust && len(ofScheme(t.Recorded, getproviders.SchemeZH)) > 0
}

// origin is where a package came from, as its receipt is to say. Where the source
// wasn't asked for all that it knows, that is "": a directory whose lock file has
// no hashes yet gets the package, and all about it, from the source.
func (t task) origin() string {
	if t.localTrust() {
		return ""
	}
	return t.Package.SourceURL
}

// expectedBy is the checksum that the archive should have by what the package is
// authenticated by.
func expectedBy(trust getproviders.Trust) (sum [sha256.Size]byte, ok bool) {
	return trust.ExpectedSHA256, trust.ExpectedSHA256 != [sha256.Size]byte{}
}

// expected is the checksum that the archive should have, as far as that is known before.
func (t task) expected() (sum [sha256.Size]byte, ok bool) { return expectedBy(t.Package.Trust) }

// unpack finishes what was unpacked on the way, or unpacks the archive if that
// came to nothing.
func (f *Fetcher) unpack(ctx context.Context, t task, from download.Archive, onTheWay unpack.Streamed, dir string) (content unpack.Content, err error) {
	whole, err := unpack.Open(from.Path, from.Size, from.IsAt, t.Provider, f.Limits.unpack())
	if err != nil {
		return unpack.Content{}, t.failed(StepUnpack, err)
	}
	defer whole.Close()
	content, ok, err := whole.Finish(onTheWay, dir)
	if !ok {
		content, err = f.unpackAfterwards(ctx, whole, from.Size, dir)
	}
	if err != nil {
		return unpack.Content{}, t.failed(StepUnpack, err)
	}
	return content, nil
}

// unpackAfterwards waits for a core and unpacks.
func (f *Fetcher) unpackAfterwards(ctx context.Context, from unpack.Archive, size int64, dir string) (unpack.Content, error) {
	gates, err := f.gates(ctx)
	if err != nil {
		return unpack.Content{}, err
	}
	leave, err := gates.unpacks.Acquire(ctx, size)
	if err != nil {
		return unpack.Content{}, err
	}
	defer leave()
	return from.Unpack(ctx, dir)
}
