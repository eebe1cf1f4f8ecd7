package resolve

import (
	"fmt"
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

// Recorded returns the hashes that the lock file has for a selection, including
// those of unknown schemes: if it has no others, no package matches.
func Recorded(locks *depsfile.Locks, s getproviders.Selection) []getproviders.Hash {
	lock, ok := locks.Provider(s.Provider)
	if !ok || lock.Version != s.Version {
		return nil
	}
	return slices.Clone(lock.Hashes)
}

// OrEmpty returns an empty Locks for nil, which stands for a lock file that doesn't exist.
func OrEmpty(locks *depsfile.Locks) *depsfile.Locks {
	if locks == nil {
		return new(depsfile.Locks)
	}
	return locks
}

// Reason is why a directory isn't up to date.
type Reason struct {
	Code     string                `json:"code"`
	Provider getproviders.Provider `json:"provider"`
	Detail   string                `json:"detail"` // a sentence for people
}

// ByProvider is the order of reasons.
func ByProvider(a, b Reason) int { return a.Provider.Compare(b.Provider) }

// Locked returns the locked versions that satisfy the requirements in wanted, and a reason for every other provider in
// wanted and for each entry that no requirement in all needs. Built-in providers, which have no entry, are only checked.
func Locked(product getproviders.Product, wanted, all getproviders.Requirements, locks *depsfile.Locks) (locked []getproviders.Selection, reasons []Reason) {
	reasons = []Reason{}
	because := func(p getproviders.Provider, code, detail string) { reasons = append(reasons, Reason{code, p, detail}) }
	for _, p := range wanted.Providers() {
		s := getproviders.Selection{Provider: p, Constraints: all.Constraints(p)}
		lock, ok := locks.Provider(p)
		switch {
		case p.IsBuiltIn():
			if err := BuiltInProblem(s, product); err != nil {
				because(p, "built_in_invalid", err.Error())
			}
		case !ok:
			because(p, "lock_missing_provider", "the lock file has no entry for it")
		case !s.Constraints.Allows(lock.Version):
			because(p, "constraint_unsatisfied", fmt.Sprintf("version %s is locked, and %s is required", lock.Version, s.Constraints))
		default:
			s.Version = lock.Version
			locked = append(locked, s)
		}
	}
	for _, lock := range locks.All() {
		if _, required := all[lock.Provider]; !required {
			because(lock.Provider, "lock_extra_provider", "the lock file has an entry that no requirement needs")
		}
	}
	return locked, reasons
}
