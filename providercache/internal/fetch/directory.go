package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// HashPackage downloads or reads a package, authenticates it and returns its hashes. An archive that has to be complete before it can
// be read goes to a temporary directory; one that is to be kept goes to ArchiveDir. Only for packages of this module: the result has
// an internal type. Programs call providercache.Fetcher.Hashes, or the function HashPackage for a package on this machine.
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

// HashPackage returns the hashes of a package: h1 and zh of an archive, which has to keep the
// rules for packages; h1 of a directory, and "" for zh. When ctx ends, the error is its cause.
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

// fetchDirectory stages an unpacked package, and hashes it in the stage, because that is what is published.
func (f *Fetcher) fetchDirectory(ctx context.Context, t Request, dir string, stage *staging.Stage) (got receipt.Provenance, err error) {
	if err := stageDirectory(ctx, t, dir, stage); err != nil {
		return got, t.Failed(during.Fetch, err)
	}
	return f.AuthenticateDirectory(ctx, t, stage.PackagePath())
}

// AuthenticateDirectory hashes and authenticates an unpacked package.
// Only for packages of this module: the result has an internal type.
func (f *Fetcher) AuthenticateDirectory(ctx context.Context, t Request, dir string) (got receipt.Provenance, err error) {
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return got, err
	}
	if _, err := unpack.FindExecutable(dir, t.Provider); err != nil {
		return got, t.Failed(during.Fetch, err)
	}
	f.EmitPhase(ctx, t.Outcome(), event.Verifying)
	h1, err := treehash.DirProgress(ctx, dir, f.EmitHashing(ctx, t.Outcome()))
	if err != nil {
		return got, t.Failed(during.Fetch, err)
	}
	authentication, err := t.Authenticate(trust.Authenticator, getproviders.Digests{H1: h1, H1Archive: h1})
	if err != nil {
		return got, err
	}
	got = f.dated(ctx, receipt.Provenance{Authentication: authentication, H1: h1}, time.Time{})
	return got, f.Approve(ctx, t, getproviders.StateFetched, got)
}

func stageDirectory(ctx context.Context, t Request, dir string, stage *staging.Stage) error {
	source, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if t.Final != "" && link.IsSame(source, t.Final) {
		return fmt.Errorf("can't install the package in %s to itself", dir)
	}
	_, _, err = link.Tree(ctx, source, stage.PackagePath(), t.Modes)
	return err
}
