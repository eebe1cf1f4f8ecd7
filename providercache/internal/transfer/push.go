package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

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

// Push sends packages from the Cache of an Installer to a remote, for the Installer's platform:
// those that lock files select, as far as the remote doesn't have them. A package is sent only if
// it has an h1 of its lock entry, and if the policy of the Fetcher allows it; it is read for that,
// and compared once more, while the archive is made. What the remote has is neither read nor sent,
// and costs one request. Every package is attempted; the results are in the order of wanted, and
// the error joins those that failed.
func Push(ctx context.Context, in *providercache.Installer, to remote.Remote, wanted []getproviders.PackageSpec) ([]event.Outcome, error) {
	if in.Cache == nil || in.Fetcher == nil {
		return nil, errors.New("an Installer needs a Fetcher and a Cache for packages to be pushed")
	}
	temporary, err := scratch.Temporary()
	if err != nil {
		return nil, err
	}
	defer temporary.Remove()
	f := in.Fetcher.Opened()
	p := pushing{in: in, fetcher: f, remote: to, wanted: wanted, dir: temporary.Path, results: make([]event.Outcome, len(wanted)), archives: make([]remote.Archive, len(wanted))}
	indexes := make([]int, len(wanted))
	for i, w := range wanted {
		indexes[i] = i
		p.results[i] = event.Outcome{Selection: w.Selected(), Platform: f.Platform, State: event.NotCached}
	}
	for _, phase := range []struct {
		limit int
		do    func(context.Context, int) error
	}{
		{runtime.GOMAXPROCS(0), p.find},
		{f.Limits.Queries, p.look},
		{runtime.GOMAXPROCS(0), p.send},
	} {
		_, errs := par.Map(ctx, phase.limit, indexes, func(ctx context.Context, i int) (struct{}, error) {
			return struct{}{}, phase.do(ctx, i)
		})
		for n, err := range errs {
			if err != nil {
				p.fail(ctx, &p.results[indexes[n]], err)
			}
		}
		indexes = slices.DeleteFunc(indexes, func(i int) bool { return p.results[i].State != event.Sent })
	}
	var failed []error
	for _, r := range p.results {
		if r.Err != nil {
			failed = append(failed, r.Err)
		}
	}
	return p.results, errors.Join(failed...)
}

// pushing is one Push. A result is event.Sent from when it is known that the cache has the package, until
// it turns out to be otherwise.
type pushing struct {
	in       *providercache.Installer
	fetcher  *fetch.Fetcher // of in
	remote   remote.Remote
	wanted   []getproviders.PackageSpec
	dir      string           // for archives on their way
	results  []event.Outcome  // of wanted
	archives []remote.Archive // of results
}

func (p *pushing) fail(ctx context.Context, r *event.Outcome, err error) {
	r.State, r.Path, r.Err = event.Failed, "", resolve.Fail(ctx, p.fetcher.Emit, r.Selection, err)
}

// find finds a package in the cache.
func (p *pushing) find(ctx context.Context, i int) error {
	r, w := &p.results[i], p.wanted[i]
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

// look finds out whether the remote has the package.
func (p *pushing) look(ctx context.Context, i int) error {
	r := &p.results[i]
	at, err := p.remote.At(remote.Name{Provider: r.Provider, Version: r.Version, Platform: r.Platform, H1: r.H1})
	if err != nil {
		return naming(r.Failed(during.Publish, err), p.remote.String())
	}
	p.archives[i], r.Path = at, at.String()
	there, err := at.Exists(ctx)
	if err != nil {
		return naming(r.Failed(during.Publish, err), r.Path)
	}
	if there {
		r.State = event.Present
		p.fetcher.Emit(ctx, event.Event{Kind: event.Done, Outcome: event.Outcome{Selection: r.Selection, State: event.Present}})
	}
	return nil
}

// send makes the archive of a package, and sends it.
func (p *pushing) send(ctx context.Context, i int) error {
	r := &p.results[i]
	s, path := r.Selection, filepath.Join(p.dir, strconv.Itoa(i)+".zip")
	defer patient.Remove(path)
	if err := p.pack(ctx, r, path); err != nil {
		return s.Failed(during.Fetch, err)
	}
	of := event.Outcome{Selection: s, Platform: r.Platform}
	p.fetcher.EmitPhase(ctx, of, event.Linking)
	if err := p.put(ctx, i, path); err != nil {
		return naming(s.Failed(during.Publish, err), r.Path)
	}
	p.fetcher.Emit(ctx, event.Event{Kind: event.Hashed, Outcome: of})
	return nil
}

// pack makes the archive, while no one may remove the package from the cache.
func (p *pushing) pack(ctx context.Context, r *event.Outcome, path string) error {
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

// put sends the archive.
func (p *pushing) put(ctx context.Context, i int, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	p.results[i].Bytes = info.Size()
	return p.archives[i].Put(ctx, io.NewSectionReader(file, 0, info.Size()))
}
