package fetch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// fetchDirectory stages a package that is unpacked already. The hash is that of what will be published.
func (f *Fetcher) fetchDirectory(ctx context.Context, t Request, dir string, stage *staging.Stage) (got receipt.Provenance, err error) {
	if err := stageDirectory(ctx, t, dir, stage); err != nil {
		return got, t.Failed(during.Fetch, err)
	}
	return f.AuthenticateDirectory(ctx, t, stage.PackagePath())
}

// AuthenticateDirectory hashes and authenticates an unpacked package. For the packages
// above this one: the result has an internal type.
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
	if t.Final != "" && isItself(source, t.Final) {
		return fmt.Errorf("can't install the package in %s to itself", dir)
	}
	_, _, err = link.Tree(ctx, source, stage.PackagePath(), t.Modes)
	return err
}

// isItself reports whether source is the directory that is at final. A link at
// final doesn't count as the directory that it points to.
func isItself(source, final string) bool {
	at, err := os.Lstat(final)
	if err != nil {
		return false
	}
	from, err := os.Stat(source)
	return err == nil && os.SameFile(at, from)
}
