package resolve

import (
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// OfScheme returns the hashes of one scheme.
func OfScheme(hashes []getproviders.Hash, scheme string) []getproviders.Hash {
	return slices.DeleteFunc(slices.Clone(hashes), func(h getproviders.Hash) bool { return h.Scheme() != scheme })
}

// Recorded returns the usable hashes that the locks have for a selection.
func Recorded(locks *depsfile.Locks, s Selection) []getproviders.Hash {
	lock, ok := locks.Provider(s.Provider)
	if !ok || lock.Version != s.Version {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(lock.Hashes), func(h getproviders.Hash) bool { return !h.Supported() })
}

// OrEmpty lets nil stand for a lock file that doesn't exist.
func OrEmpty(locks *depsfile.Locks) *depsfile.Locks {
	if locks == nil {
		return new(depsfile.Locks)
	}
	return locks
}
