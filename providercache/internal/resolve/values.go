package resolve

import (
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Mode says how locked versions are treated.
type Mode int

const (
	Normal  Mode = iota // locked versions are kept
	Upgrade             // the newest matching versions are selected, whatever is locked
)

// OfScheme returns the hashes of one scheme.
func OfScheme(hashes []getproviders.Hash, scheme string) []getproviders.Hash {
	return slices.DeleteFunc(slices.Clone(hashes), func(h getproviders.Hash) bool { return h.Scheme() != scheme })
}

// Recorded returns the hashes that the locks have for a selection. Those of unknown schemes are among them: where there
// are no others, no package is the one that was chosen.
func Recorded(locks *depsfile.Locks, s getproviders.Selection) []getproviders.Hash {
	lock, ok := locks.Provider(s.Provider)
	if !ok || lock.Version != s.Version {
		return nil
	}
	return slices.Clone(lock.Hashes)
}

// OrEmpty lets nil stand for a lock file that doesn't exist.
func OrEmpty(locks *depsfile.Locks) *depsfile.Locks {
	if locks == nil {
		return new(depsfile.Locks)
	}
	return locks
}
