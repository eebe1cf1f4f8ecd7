package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// sighting is what Target holds of a provider's locked version.
type sighting struct {
	Version getproviders.Version
	Exists  bool
	Genuine bool  // it has an h1 that the lock file records
	Problem error // why it couldn't be hashed
}

// look hashes the directories of all locked versions that are required, as
// many at once as there are cores. Directories whose lock entry has no h1
// aren't read, because nothing could be concluded. A package that can't be
// read is taken for damaged.
func (in *Installer) look(ctx context.Context, req getproviders.Requirements, locks *depsfile.Locks) map[getproviders.Provider]sighting {
	var locked []depsfile.Lock
	for _, p := range req.Providers() {
		if lock, ok := locks.Provider(p); ok {
			locked = append(locked, lock)
		}
	}
	// The error of what isn't looked at, because ctx ended, comes up again in
	// the next phase.
	seen, _ := par.Map(ctx, runtime.GOMAXPROCS(0), locked, in.sight)
	local := make(map[getproviders.Provider]sighting, len(locked))
	for i, lock := range locked {
		local[lock.Provider] = seen[i]
	}
	return local
}

func (in *Installer) sight(ctx context.Context, lock depsfile.Lock) (sighting, error) {
	seen := sighting{Version: lock.Version}
	dir := in.packagePath(lock.Provider, lock.Version)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	seen.Exists = true
	known := ofScheme(lock.Hashes, getproviders.SchemeH1)
	if len(known) == 0 {
		return seen, nil
	}
	var h1 getproviders.Hash
	h1, seen.Problem = getproviders.HashDir(ctx, dir)
	seen.Genuine = seen.Problem == nil && slices.Contains(known, h1)
	return seen, nil
}

// ofScheme returns the hashes of one scheme.
func ofScheme(hashes []getproviders.Hash, scheme string) []getproviders.Hash {
	return slices.DeleteFunc(slices.Clone(hashes), func(h getproviders.Hash) bool { return h.Scheme() != scheme })
}
