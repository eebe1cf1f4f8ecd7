package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// Push sends packages from the Cache of an Installer to a remote, for the Installer's
// platform: those that lock files select and the remote doesn't have. A package is sent
// only if its lock entry has its h1 and the Fetcher's policy allows it; it is read for
// that, and compared once more while the archive is made. A package that the remote has is
// neither read nor sent, and costs one request. Push tries all packages; the results are
// in the order of wanted, and the error joins those that failed.
func Push(ctx context.Context, in *providercache.Installer, to Remote, wanted []getproviders.PackageSpec) ([]event.Outcome, error) {
	if in.Cache == nil || in.Fetcher == nil {
		return nil, errors.New("an Installer needs a Fetcher and a Cache for packages to be pushed")
	}
	temporary, err := scratch.Temporary()
	if err != nil {
		return nil, err
	}
	defer temporary.Remove()
	f := in.Fetcher.Opened()
	p := pushing{in: in, fetcher: f, remote: to, dir: temporary.Path, cores: par.NewLimit(runtime.GOMAXPROCS(0))}
	results, errs := resolve.Map(ctx, f.Emit, f.Limits.Queries, wanted, p.push)
	for i, err := range errs {
		if err != nil {
			results[i] = event.Outcome{Selection: wanted[i].Selected(), Platform: f.Platform, State: event.Failed, H1: results[i].H1, Bytes: results[i].Bytes, Err: err}
		}
	}
	return results, errors.Join(errs...)
}

// pushing is one call of Push.
type pushing struct {
	in      *providercache.Installer
	fetcher *fetch.Fetcher // of in
	remote  Remote
	dir     string     // for temporary archives
	cores   *par.Limit // limits how many packages are read at once
}

// push sends one package, if the cache has it and the remote doesn't.
func (p pushing) push(ctx context.Context, w getproviders.PackageSpec) (r event.Outcome, err error) {
	r = event.Outcome{Selection: w.Selected(), Platform: p.fetcher.Platform, State: event.NotCached}
	if err := p.find(ctx, w, &r); err != nil || r.State != event.Sent {
		return r, err
	}
	at, err := p.remote.At(remote.Name{Provider: r.Provider, Version: r.Version, Platform: r.Platform, H1: r.H1})
	if err != nil {
		return r, naming(r.Failed(during.Publish, err), p.remote.String())
	}
	r.Path = at.String()
	there, err := at.Exists(ctx)
	if err != nil {
		return r, naming(r.Failed(during.Publish, err), r.Path)
	}
	if there {
		r.State = event.Present
		p.fetcher.Emit(ctx, event.Event{Kind: event.Done, Outcome: event.Outcome{Selection: r.Selection, State: event.Present}})
		return r, nil
	}
	return r, p.send(ctx, at, &r)
}

// find looks for a package in the cache, and sets the state and the h1 of r.
func (p pushing) find(ctx context.Context, w getproviders.PackageSpec, r *event.Outcome) error {
	leave, err := p.cores.Acquire(ctx, 0)
	if err != nil {
		return err
	}
	defer leave()
	h1, ok, err := p.in.FindCached(ctx, w)
	switch {
	case err != nil:
		return err
	case ok && slices.Contains(w.Hashes, h1):
		r.State, r.H1 = event.Sent, h1
	case ok, len(resolve.OfScheme(w.Hashes, hashing.H1)) == 0:
		r.State, r.H1 = event.NotRecorded, h1
	}
	return nil
}

// send packs a package and sends the archive.
func (p pushing) send(ctx context.Context, to remote.Archive, r *event.Outcome) error {
	leave, err := p.cores.Acquire(ctx, 0)
	if err != nil {
		return err
	}
	defer leave()
	dir, err := os.MkdirTemp(p.dir, "")
	if err != nil {
		return r.Failed(during.Fetch, err)
	}
	defer patient.RemoveAll(dir)
	path := filepath.Join(dir, "archive.zip")
	if err := p.pack(ctx, r, path); err != nil {
		return r.Failed(during.Fetch, err)
	}
	of := event.Outcome{Selection: r.Selection, Platform: r.Platform}
	p.fetcher.EmitPhase(ctx, of, event.Linking)
	if err := sendArchive(ctx, to, path, r); err != nil {
		return naming(r.Failed(during.Publish, err), r.Path)
	}
	p.fetcher.Emit(ctx, event.Event{Kind: event.Hashed, Outcome: of})
	return nil
}

// pack makes the archive under the package's file lock, so that
// no other process removes the package meanwhile.
func (p pushing) pack(ctx context.Context, r *event.Outcome, path string) error {
	s := r.Selection
	unlock, err := store.LockPackage(ctx, p.in.Cache, layout.UnpackedPath(s.Provider, s.Version, r.Platform))
	if err != nil {
		return err
	}
	defer unlock()
	dir := p.in.Cache.PackagePath(s.Provider, s.Version, r.Platform)
	of := event.Outcome{Selection: s, Platform: r.Platform, Path: dir}
	p.fetcher.Emit(ctx, event.Event{Kind: event.Hashing, Outcome: of})
	h1, err := writeArchive(ctx, path, dir, p.fetcher.EmitHashing(ctx, of))
	if err == nil && h1 != r.H1 {
		err = fmt.Errorf("the package in %s has %s now, and had %s: it is being changed, or its receipt is wrong", dir, h1, r.H1)
	}
	return err
}

// sendArchive sends the archive at a path.
func sendArchive(ctx context.Context, to remote.Archive, path string, r *event.Outcome) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r.Bytes = info.Size()
	return to.Put(ctx, io.NewSectionReader(file, 0, info.Size()))
}
