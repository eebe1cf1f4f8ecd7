package fetch

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
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
func (f *Fetcher) hashStream(ctx context.Context, t Request) (got receipt.Provenance, err error) {
	var received download.Archive
	var content unpack.Content
	trust, err := f.withTrust(ctx, t, func(ctx context.Context) (err error) {
		if received, content, err = f.downloadHashes(ctx, t); err != nil && !errors.Is(err, unpack.ErrNotStreamable) {
			err = t.Failed(during.Fetch, err)
		}
		return err
	})
	if err != nil {
		return got, err
	}
	authentication, err := t.Authenticate(trust.Authenticator, getproviders.Digests{SHA256: received.SHA256, H1: content.H1, H1Archive: content.H1Archive})
	if err != nil {
		return got, err
	}
	got = f.provenance(ctx, t, trust, authentication, received, content)
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
