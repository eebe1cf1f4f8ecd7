package fetcher

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// obtain makes the package, with all checks passed, in the stage.
func (f *Fetcher) Obtain(ctx context.Context, t Request, stage *staging.Stage) (receipt.Provenance, error) {
	switch at := t.Package.Location.(type) {
	case getproviders.LocalDirectory:
		return f.obtainDirectory(ctx, t, string(at), stage)
	case getproviders.LocalArchive, getproviders.HTTPArchive, getproviders.Archive:
		return f.ObtainArchive(ctx, t, stage.ArchivePath(), stage.PackagePath(), f.progress(ctx, t))
	default:
		return receipt.Provenance{}, t.Failed(resolve.StepFetch, fmt.Errorf("can't fetch from a location of type %T", at))
	}
}

// obtainArchive receives an archive and unpacks it to dir, or only hashes
// what is in it if dir is "".
func (f *Fetcher) ObtainArchive(ctx context.Context, t Request, path, dir string, progress func(done, total int64)) (receipt.Provenance, error) {
	received, onTheWay, trust, err := f.receive(ctx, t, path, dir, progress)
	if err != nil {
		return receipt.Provenance{}, err
	}
	defer received.Discard()
	digests := getproviders.Digests{SHA256: received.SHA256}
	authentication, err := t.Judge(trust.Authenticator, digests, f.Product)
	undecided := errors.Is(err, errNeedsH1)
	if err != nil && !undecided {
		return receipt.Provenance{}, err
	}
	content, err := f.unpack(ctx, t, received, onTheWay, dir)
	if err != nil {
		return receipt.Provenance{}, err
	}
	if undecided {
		digests.H1, digests.H1Archive = content.H1, content.H1Archive
		if authentication, err = t.Judge(trust.Authenticator, digests, f.Product); err != nil {
			return receipt.Provenance{}, err
		}
	}
	return receipt.Provenance{
		Authentication: authentication, H1: content.H1, H1Archive: content.OtherH1(),
		ZH: getproviders.ZH(received.SHA256), Origin: t.origin(), ArchiveBytes: received.Size, Told: t.OtherRegistryHashes(trust),
	}, nil
}

// receive gets the archive and what it is judged by, both at the same time. On
// its way the archive is unpacked to dir; onTheWay is nil if that came to nothing.
// The caller discards the archive.
func (f *Fetcher) receive(ctx context.Context, t Request, path, dir string, progress func(done, total int64)) (received download.Archive, onTheWay unpack.Streamed, trust getproviders.Trust, err error) {
	gates, err := f.gates(ctx)
	if err != nil {
		return download.Archive{}, nil, getproviders.Trust{}, t.Failed(resolve.StepFetch, err)
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
		onTheWay = unpack.Stream(unpack.NewTailReader(ctx, file, mark, gates.unpacks, size), dir, f.Limits.Unpack())
	}
	download := func(ctx context.Context) (err error) {
		leave, err := gates.enter(ctx, t)
		if err == nil {
			defer leave()
			request.Received = leave
			received, err = download.Fetch(ctx, request)
		}
		if err != nil {
			return t.Failed(resolve.StepFetch, err)
		}
		return nil
	}
	load := func(ctx context.Context) (err error) {
		trust, err = t.LoadTrust(ctx)
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
func (f *Fetcher) progress(ctx context.Context, t Request) func(done, total int64) {
	if !download.IsRemote(t.Package.Location) || f.Observe == nil {
		return nil
	}
	return func(done, total int64) {
		f.Emit(ctx, event.ProgressEvent{Addr: t.Provider, Version: t.Version, Done: done, Total: total})
	}
}

// downloadRequest is for a package's archive, to be written to path.
func (f *Fetcher) downloadRequest(t Request, path string) download.Request {
	expected, known := t.Expected()
	return download.Request{
		Location: t.Package.Location, Client: f.HTTPClient(), Expected: expected, Known: known, Limit: f.Limits.Unpack().Bytes,
		Path: path, PartialDir: t.Partials, Now: f.Time,
	}
}

// expectedBy is the checksum that the archive should have by what the package is
// authenticated by.
func ExpectedBy(trust getproviders.Trust) (sum [sha256.Size]byte, ok bool) {
	return trust.ExpectedSHA256, trust.ExpectedSHA256 != [sha256.Size]byte{}
}

// unpack finishes what was unpacked on the way, or unpacks the archive if that
// came to nothing.
func (f *Fetcher) unpack(ctx context.Context, t Request, from download.Archive, onTheWay unpack.Streamed, dir string) (content unpack.Content, err error) {
	whole, err := unpack.Open(from.Path, from.Size, from.IsAt, t.Provider, f.Limits.Unpack())
	if err != nil {
		return unpack.Content{}, t.Failed(resolve.StepUnpack, err)
	}
	defer whole.Close()
	content, ok, err := whole.Finish(onTheWay, dir)
	if !ok {
		content, err = f.UnpackAfterwards(ctx, whole, from.Size, dir)
	}
	if err != nil {
		return unpack.Content{}, t.Failed(resolve.StepUnpack, err)
	}
	return content, nil
}

// unpackAfterwards waits for a core and unpacks.
func (f *Fetcher) UnpackAfterwards(ctx context.Context, from unpack.Archive, size int64, dir string) (unpack.Content, error) {
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
