package fetch

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

// Limits bounds what a Fetcher does at once, over all calls of its methods, and what a package may be. All are set.
type Limits struct {
	Queries      int   // metadata requests at once; 32
	Downloads    int   // archives at once; 32
	PerHost      int   // of them, from one host; 16
	Unpacks      int   // archives being unpacked at once; GOMAXPROCS
	PackageBytes int64 // size of one archive, and unpacked size of one package; 8 GiB
	PackageFiles int   // entries of one package; 10 000
}

// Unpack is what packages are bounded by.
func (l Limits) Unpack() unpack.Limits {
	return unpack.Limits{Bytes: l.PackageBytes, Files: l.PackageFiles}
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
		limits := f.Limits
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
