package fetch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// HashPackage downloads or reads a package, authenticates it and returns its hashes. An archive that has to be complete before it can
// be read is written to a temporary directory, and one that ArchiveDir keeps to that. For the packages above this one: the result
// has an internal type. Programs call lockhashes.Hashes, or the function HashPackage for a package on this machine.
func (f *Fetcher) HashPackage(ctx context.Context, t Request) (receipt.Provenance, error) {
	if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return f.AuthenticateDirectory(ctx, t, string(dir))
	}
	var path string
	if _, keeps := f.keptPath(t); keeps {
		stage, err := staging.New(f.ArchiveDir)
		if err != nil {
			return receipt.Provenance{}, t.Failed(during.Fetch, err)
		}
		defer stage.Remove()
		path = stage.ArchivePath()
	} else {
		got, err := f.FetchArchive(ctx, t, "", "")
		if !errors.Is(err, unpack.ErrNotStreamable) {
			return got, err
		}
		temporary, err := scratch.Temporary()
		if err != nil {
			return got, t.Failed(during.Fetch, err)
		}
		defer temporary.Remove()
		path = filepath.Join(temporary.Path, "archive.zip")
	}
	return f.FetchArchive(ctx, t, path, "")
}

// HashPackage returns the hashes of a package: of an archive, which has to keep
// the rules for packages, h1 and zh; of a directory h1, while zh is "". When ctx
// ends, the error is its cause.
func HashPackage(ctx context.Context, path string) (h1, zh getproviders.Hash, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		h1, err = treehash.Dir(ctx, path)
		return h1, "", err
	}
	content, zh, err := unpack.HashFile(ctx, path, nil)
	if err != nil {
		return "", "", err
	}
	return content.H1, zh, nil
}

// hashStream hashes an archive and its files while it is downloaded. The error is
// unpack.ErrNotStreamable if that can't be done.
func (f *Fetcher) hashStream(ctx context.Context, t Request) (received download.Archive, content unpack.Content, err error) {
	defer func() {
		if err != nil && !errors.Is(err, unpack.ErrNotStreamable) {
			err = t.Failed(during.Fetch, err)
		}
	}()
	leave, err := f.Enter(ctx, &t)
	if err != nil {
		return received, content, err
	}
	defer leave()
	from, err := download.Open(ctx, f.opening(t))
	if err != nil {
		return received, content, err
	}
	defer from.Close()
	for {
		if received, content, err = f.readSource(ctx, t, from); !errors.Is(err, download.ErrRestart) {
			return received, content, err
		}
	}
}

// readSource reads a source to its end.
func (f *Fetcher) readSource(ctx context.Context, t Request, from download.Source) (received download.Archive, content unpack.Content, err error) {
	limits, total := f.Limits.Package, from.Length()
	if total > limits.Bytes {
		return received, content, unpack.ErrNotStreamable // refused with a reason when the archive is unpacked
	}
	stream, err := unpack.HashStream(ctx, download.Metered(from, 0, total, f.Now, f.progress(ctx, t)), f.unpacks, total, limits)
	received = download.Archive{Size: stream.Size, SHA256: stream.SHA256, Modified: from.Modified()}
	switch {
	case errors.Is(err, unpack.ErrNotStreamable):
		return received, content, err
	case err != nil:
		return received, content, download.TransferFailure(ctx, t.Package.Location, stream.Size, total, err)
	case total >= 0 && stream.Size != total:
		return received, content, download.Incomplete(t.Package.Location.String(), stream.Size, total, io.ErrUnexpectedEOF)
	}
	if expected, known := t.Expected(); known && expected != stream.SHA256 {
		if err := from.Renew(); err != nil {
			return received, content, err
		}
	}
	content, err = stream.Content(t.Provider, limits)
	return received, content, err
}
