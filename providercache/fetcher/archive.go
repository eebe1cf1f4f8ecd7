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

// Fetch makes the package, with all checks passed, in the stage. For the packages above
// this one: stage and result have internal types. Programs install, lock, mirror or vendor.
func (f *Fetcher) Fetch(ctx context.Context, t Request, stage *staging.Stage) (receipt.Provenance, error) {
	switch at := t.Package.Location.(type) {
	case getproviders.LocalDirectory:
		return f.fetchDirectory(ctx, t, string(at), stage)
	case getproviders.LocalArchive, getproviders.HTTPArchive, getproviders.Archive:
		return f.FetchArchive(ctx, t, stage.ArchivePath(), stage.PackagePath(), f.progress(ctx, t))
	default:
		return receipt.Provenance{}, t.Failed(resolve.StepFetch, fmt.Errorf("can't fetch from a location of type %T", at))
	}
}

// FetchArchive downloads an archive to path and unpacks it to dir, or only hashes
// its files if dir is "". An archive that ArchiveDir has isn't downloaded. For
// the packages above this one: the result has an internal type.
func (f *Fetcher) FetchArchive(ctx context.Context, t Request, path, dir string, progress func(done, total int64)) (receipt.Provenance, error) {
	got, ok, err := f.fromKept(ctx, t, path, dir)
	if !ok {
		got, err = f.fetchArchive(ctx, t, path, dir, progress)
	}
	if err != nil {
		return receipt.Provenance{}, err
	}
	return got, f.Approve(ctx, t, StateFetched, got)
}

// fetchArchive is FetchArchive from the location that the request names.
func (f *Fetcher) fetchArchive(ctx context.Context, t Request, path, dir string, progress func(done, total int64)) (receipt.Provenance, error) {
	received, streamed, trust, err := f.download(ctx, t, path, dir, progress)
	if err != nil {
		return receipt.Provenance{}, err
	}
	defer received.Discard()
	digests := getproviders.Digests{SHA256: received.SHA256}
	authentication, err := t.Authenticate(trust.Authenticator, digests, f.Product)
	undecided := errors.Is(err, errH1Required)
	if err != nil && !undecided {
		return receipt.Provenance{}, err
	}
	content, err := f.unpack(ctx, t, received, streamed, dir)
	if err != nil {
		return receipt.Provenance{}, err
	}
	if undecided {
		digests.H1, digests.H1Archive = content.H1, content.H1Archive
		if authentication, err = t.Authenticate(trust.Authenticator, digests, f.Product); err != nil {
			return receipt.Provenance{}, err
		}
	}
	f.keep(ctx, t, received.Path)
	return receipt.Provenance{
		Authentication: authentication, H1: content.H1, H1Archive: content.OtherH1(),
		ZH: getproviders.ZH(received.SHA256), Origin: t.origin(), ArchiveBytes: received.Size, Released: f.released(received.Modified), RegistryHashes: t.OtherRegistryHashes(trust),
	}, nil
}

// download gets the archive and the documents that authenticate it, both at the
// same time. The archive is unpacked to dir while it arrives; streamed is nil if it
// can't be. The caller discards the archive.
func (f *Fetcher) download(ctx context.Context, t Request, path, dir string, progress func(done, total int64)) (received download.Archive, streamed unpack.Streamed, trust getproviders.Trust, err error) {
	limits, err := f.limits(ctx)
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
		streamed = unpack.Stream(unpack.NewTailReader(ctx, file, mark, limits.unpacks, size), dir, f.Limits.Unpack())
	}
	fetch := func(ctx context.Context) (err error) {
		leave, err := limits.enter(ctx, t)
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
	err = par.Together(ctx, load, fetch)
	if err != nil { // the archive may be complete when the documents can't be loaded
		received.Keep()
	}
	return received, streamed, trust, err
}

// progress returns what reports the progress of a download as events; nil if
// there is no observer, or the package is on this machine.
func (f *Fetcher) progress(ctx context.Context, t Request) func(done, total int64) {
	if !download.IsRemote(t.Package.Location) || f.Observe == nil {
		return nil
	}
	return func(done, total int64) {
		f.Emit(ctx, event.ProgressEvent{Addr: t.Provider, Version: t.Version, Done: done, Total: total})
	}
}

// downloadRequest asks for a package's archive, to be written to path.
func (f *Fetcher) downloadRequest(t Request, path string) download.Request {
	expected, known := t.Expected()
	return download.Request{
		Location: t.Package.Location, Client: f.HTTPClient(), Expected: expected, Known: known, Limit: f.Limits.Unpack().Bytes,
		Path: path, PartialDir: t.Partials, Now: f.Time, Admit: t.Admit,
	}
}

// ExpectedBy is the checksum that the archive should have according to the documents
// that authenticate the package.
func ExpectedBy(trust getproviders.Trust) (sum [sha256.Size]byte, ok bool) {
	return trust.ExpectedSHA256, trust.ExpectedSHA256 != [sha256.Size]byte{}
}

// unpack completes what was unpacked while the archive arrived, or unpacks the
// archive if it couldn't be.
func (f *Fetcher) unpack(ctx context.Context, t Request, from download.Archive, streamed unpack.Streamed, dir string) (content unpack.Content, err error) {
	whole, err := unpack.Open(from.Path, from.Size, from.IsAt, t.Provider, f.Limits.Unpack())
	if err != nil {
		return unpack.Content{}, t.Failed(resolve.StepUnpack, err)
	}
	defer whole.Close()
	content, ok, err := whole.Finish(streamed, dir)
	if !ok {
		content, err = f.UnpackComplete(ctx, whole, from.Size, dir)
	}
	if err != nil {
		return unpack.Content{}, t.Failed(resolve.StepUnpack, err)
	}
	return content, nil
}

// UnpackComplete waits for a core and unpacks an archive that is complete. For the packages
// above this one: archive and content have internal types.
func (f *Fetcher) UnpackComplete(ctx context.Context, from unpack.Archive, size int64, dir string) (unpack.Content, error) {
	limits, err := f.limits(ctx)
	if err != nil {
		return unpack.Content{}, err
	}
	leave, err := limits.unpacks.Acquire(ctx, size)
	if err != nil {
		return unpack.Content{}, err
	}
	defer leave()
	return from.Unpack(ctx, dir)
}
