package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// HashPackage downloads or reads a package, authenticates it and returns its hashes.
// An archive is hashed while it arrives; only one that has to be complete before it
// can be read is written to a temporary directory. For the packages above this one: the result
// has an internal type. Programs call lockhashes.Hashes, or the function HashPackage for a
// package on this machine.
func (f *Fetcher) HashPackage(ctx context.Context, t Request) (receipt.Provenance, error) {
	if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return f.AuthenticateDirectory(ctx, t, string(dir))
	}
	if _, keeps := f.keptPath(t); keeps {
		return f.hashKept(ctx, t)
	}
	got, err := f.hashStream(ctx, t)
	if !errors.Is(err, unpack.ErrNotStreamable) {
		return got, err
	}
	temporary, err := scratch.Temporary()
	if err != nil {
		return receipt.Provenance{}, t.Failed(during.Fetch, err)
	}
	defer temporary.Remove()
	return f.FetchArchive(ctx, t, filepath.Join(temporary.Path, "archive.zip"), "")
}

// hashStream hashes and authenticates an archive while it arrives. The error is
// unpack.ErrNotStreamable if that can't be done.
func (f *Fetcher) hashStream(ctx context.Context, t Request) (receipt.Provenance, error) {
	var trust getproviders.Trust
	var received unpack.HashedStream
	var content unpack.Content
	var modified time.Time
	err := par.Together(ctx,
		func(ctx context.Context) (err error) {
			trust, err = f.loadTrust(ctx, t)
			return err
		},
		func(ctx context.Context) (err error) {
			received, content, modified, err = f.downloadHashes(ctx, t)
			if err != nil && !errors.Is(err, unpack.ErrNotStreamable) {
				err = t.Failed(during.Fetch, err)
			}
			return err
		},
	)
	if err != nil {
		return receipt.Provenance{}, err
	}
	digests := getproviders.Digests{SHA256: received.SHA256, H1: content.H1, H1Archive: content.H1Archive}
	authentication, err := t.Authenticate(trust.Authenticator, digests)
	if err != nil {
		return receipt.Provenance{}, err
	}
	got := receipt.Provenance{
		Authentication: authentication, H1: content.H1, ZH: getproviders.ZH(received.SHA256), Origin: t.Package.SourceURL, FromRegistry: t.Package.FromRegistry,
		ArchiveBytes: received.Size, RegistryHashes: t.OtherRegistryHashes(trust),
	}
	got = f.dated(ctx, got, modified)
	return got, f.Approve(ctx, t, getproviders.StateFetched, got)
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
