package fetcher

import (
	"cmp"
	"context"
	"runtime"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Limits bounds what a Fetcher does at once, over all calls of its methods,
// and what a package may be. Zero fields mean the defaults. Queries counts for
// each call; the Source and the Client have limits of their own.
type Limits struct {
	Queries      int   // metadata requests at once; 32
	Downloads    int   // archives at once; 32
	PerHost      int   // of them, from one host; 16
	Unpacks      int   // archives being unpacked at once; GOMAXPROCS
	PackageBytes int64 // size of one archive, and unpacked size of one package; 8 GiB
	PackageFiles int   // entries of one package; 10 000
}

// WithDefaults fills in what isn't set.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Queries:      cmp.Or(max(l.Queries, 0), 32),
		Downloads:    cmp.Or(max(l.Downloads, 0), 32),
		PerHost:      cmp.Or(max(l.PerHost, 0), 16),
		Unpacks:      cmp.Or(max(l.Unpacks, 0), runtime.GOMAXPROCS(0)),
		PackageBytes: l.Unpack().Bytes,
		PackageFiles: l.Unpack().Files,
	}
}

// Unpack is what packages are bounded by. For the packages above this one: the result has
// an internal type.
func (l Limits) Unpack() unpack.Limits {
	return unpack.Limits{Bytes: l.PackageBytes, Files: l.PackageFiles}.WithDefaults()
}

// semaphores are what the calls of one Fetcher have to share for the limits to
// hold over all of them.
type semaphores struct {
	downloads, unpacks *par.Limit
	hosts              *par.Memo[string, *par.Limit]
	perHost            int
}

func (f *Fetcher) limits(ctx context.Context) (semaphores, error) {
	return f.shared.Do(ctx, struct{}{}, func(context.Context) (semaphores, error) {
		limits := f.Limits.WithDefaults()
		return semaphores{par.NewLimit(limits.Downloads), par.NewLimit(limits.Unpacks), new(par.Memo[string, *par.Limit]), limits.PerHost}, nil
	})
}

// enter waits until an archive may be downloaded. It waits for the host first, so
// that downloads that queue for a slow host don't hold up the others.
func (s semaphores) enter(ctx context.Context, t Request) (leave func(), err error) {
	leaveHost := func() {}
	if at, ok := t.Package.Location.(getproviders.HTTPArchive); ok && at.URL != nil {
		host, err := s.hosts.Do(ctx, at.URL.Host, func(context.Context) (*par.Limit, error) { return par.NewLimit(s.perHost), nil })
		if err != nil {
			return nil, err
		}
		if leaveHost, err = host.Acquire(ctx, 0); err != nil {
			return nil, err
		}
	}
	leaveAll, err := s.downloads.Acquire(ctx, 0)
	if err != nil {
		leaveHost()
		return nil, err
	}
	return func() { leaveAll(); leaveHost() }, nil
}
