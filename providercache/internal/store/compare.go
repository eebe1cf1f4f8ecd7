package store

import (
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// ComparedPackage is a package of a ReadTree compared with a lock file.
type ComparedPackage struct {
	ReadPackage
	Finding Finding
	Locked  depsfile.Lock // the provider's entry; zero: none
}

// Differs reports whether the tree differs from the lock file because of this package.
func (c ComparedPackage) Differs() bool {
	return slices.Contains([]Finding{Missing, Dangling, NotLocked, Differs}, c.Finding)
}

// Unclear reports whether it can't be known.
func (c ComparedPackage) Unclear() bool {
	return c.Finding == Unproven || c.Finding == Unreadable
}

// CompareOptions say what a tree is for.
type CompareOptions struct {
	Platforms []getproviders.Platform // for which every locked package has to be there; nil: none has to
	// Shared says that the tree serves others, too, so that packages
	// that aren't locked are left out.
	Shared bool
	Skip   map[getproviders.Provider]bool // that come by other means, and needn't be there
}

// Compare compares packages with a lock file. Missing packages are sorted among the others.
func (t ReadTree) Compare(locks *depsfile.Locks, opts CompareOptions) []ComparedPackage {
	var all []ComparedPackage
	for _, p := range append(slices.Clone(t.Packages), t.missing(locks, opts)...) {
		c := ComparedPackage{ReadPackage: p}
		lock, ok := locks.Provider(p.Provider)
		if ok {
			c.Locked = lock
		}
		if isLocked := ok && lock.Version == p.Version; isLocked || !opts.Shared {
			c.Finding = p.finding(isLocked, lock.Hashes)
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b ComparedPackage) int { return comparePackages(a.cached(), b.cached()) })
	return all
}

// missing returns the locked packages that the tree has in no form.
func (t ReadTree) missing(locks *depsfile.Locks, opts CompareOptions) (missing []ReadPackage) {
	for _, lock := range locks.All() {
		for _, plat := range opts.Platforms {
			absent := ReadPackage{Outcome: event.Outcome{Selection: getproviders.Selection{Provider: lock.Provider, Version: lock.Version}, Platform: plat}}
			there := func(p ReadPackage) bool { return comparePackages(p.cached(), absent.cached()) == 0 }
			if !opts.Skip[lock.Provider] && !slices.ContainsFunc(t.Packages, there) {
				missing = append(missing, absent)
			}
		}
	}
	return missing
}

// finding compares a package with the hashes of its lock entry.
func (p ReadPackage) finding(isLocked bool, hashes []getproviders.Hash) Finding {
	comparable := func(h getproviders.Hash) bool {
		return h.Scheme() == hashing.H1 || p.Packed && h.Scheme() == hashing.ZH
	}
	own := []getproviders.Hash{p.H1, p.H1Archive, p.ZH}
	matches := slices.ContainsFunc(hashes, func(h getproviders.Hash) bool { return h != "" && slices.Contains(own, h) })
	zhs := len(resolve.OfScheme(hashes, hashing.ZH)) > 0
	switch {
	case p.Path == "":
		return Missing
	case !isLocked:
		return NotLocked
	case errors.Is(p.Err, ErrDangling):
		return Dangling
	case p.Err != nil && p.ZH != "" && zhs && !matches:
		return Differs // a truncated archive differs, whatever its readable part is
	case p.Err != nil:
		return Unreadable
	case matches:
		return OK
	case slices.ContainsFunc(hashes, comparable):
		return Differs
	default:
		return Unproven
	}
}
