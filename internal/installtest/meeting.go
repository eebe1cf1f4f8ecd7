package installtest

import (
	"context"
	"sync"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Meeting returns a source that answers only when the given numbers of requests, for versions and for packages, have arrived: a caller
// that makes one after the other waits for ever. 0 means that it answers at once.
func Meeting(source getproviders.Source, versions, packages int) getproviders.Source {
	return meeting{source, newBarrier(versions), newBarrier(packages)}
}

type meeting struct {
	getproviders.Source
	versions, packages *barrier
}

func (m meeting) Versions(ctx context.Context, p getproviders.Provider) (getproviders.Available, error) {
	if err := m.versions.wait(ctx); err != nil {
		return getproviders.Available{}, err
	}
	return m.Source.Versions(ctx, p)
}

func (m meeting) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	if err := m.packages.wait(ctx); err != nil {
		return getproviders.Package{}, err
	}
	return m.Source.Package(ctx, p, v, plat)
}

// barrier blocks callers until all have arrived.
type barrier struct {
	mu   sync.Mutex
	left int
	open chan struct{}
}

func newBarrier(n int) *barrier {
	b := &barrier{left: n, open: make(chan struct{})}
	if n == 0 {
		close(b.open)
	}
	return b
}

func (b *barrier) wait(ctx context.Context) error {
	b.mu.Lock()
	if b.left--; b.left == 0 {
		close(b.open)
	}
	b.mu.Unlock()
	select {
	case <-b.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
