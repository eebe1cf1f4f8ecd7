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

// PackageSpec is a package that the cache is to hold.
type PackageSpec struct {
	Provider    getproviders.Provider
	Version     getproviders.Version     // zero: the newest that Constraints allow
	Constraints getproviders.Constraints // counts only without a version
	Hashes      []getproviders.Hash      // as a lock file records them; none: the package is authenticated by its source alone
}

// Selected returns what failures name.
func (w PackageSpec) Selected() Selection {
	return Selection{Provider: w.Provider, Version: w.Version, Constraints: w.Constraints}
}

// Status is Check's answer; no reasons means up to date.
type Status struct {
	Reasons []Reason `json:"reasons"` // in the order of providers
}

// UpToDate reports whether an Install would have nothing to do.
func (s Status) UpToDate() bool { return len(s.Reasons) == 0 }

// Reason is why a directory isn't up to date. Code is stable:
// "lock_missing_provider", "lock_without_hash", "constraint_unsatisfied",
// "package_absent", "package_differs", "package_refused",
// "lock_extra_provider", "built_in_invalid".
type Reason struct {
	Code     string                `json:"code"`
	Provider getproviders.Provider `json:"provider"`
	Detail   string                `json:"detail"` // a sentence for people
}

// OfScheme returns the hashes of one scheme.
func OfScheme(hashes []getproviders.Hash, scheme string) []getproviders.Hash {
	return slices.DeleteFunc(slices.Clone(hashes), func(h getproviders.Hash) bool { return h.Scheme() != scheme })
}

// Recorded returns the hashes that the locks have for a selection. Those of unknown schemes are among them: where there
// are no others, no package is the one that was chosen.
func Recorded(locks *depsfile.Locks, s Selection) []getproviders.Hash {
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
