package depsfile

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// FileName is the lock file's name in the directory of the root module.
const FileName = ".terraform.lock.hcl"

// Lock is the lock file's entry for one provider.
type Lock struct {
	Provider    getproviders.Provider
	Version     getproviders.Version     // the zero Version is written, and read, as "0.0.0"
	Constraints getproviders.Constraints // that led to the version; for people only, nothing checks them
	// Hashes are of the version's packages, for any platform, in the order of
	// the file; sorted and unique if this package wrote it. A file that was
	// edited by hand may have no hashes, or hashes of unknown schemes.
	Hashes []getproviders.Hash
}

// Locks is the content of a lock file. The zero value is empty and ready to use, and a
// nil *Locks is empty and read-only. It isn't safe for concurrent changes.
type Locks struct {
	providers map[getproviders.Provider]Lock
	modules   [][]byte // blocks for modules, which nothing here parses, as they were read
}

// entries is nil-safe.
func (l *Locks) entries() map[getproviders.Provider]Lock { return l.orEmpty().providers }

func (l *Locks) orEmpty() *Locks {
	if l == nil {
		return &Locks{}
	}
	return l
}

// Provider returns the entry of p, and whether it exists.
func (l *Locks) Provider(p getproviders.Provider) (Lock, bool) {
	lock, found := l.entries()[p]
	lock.Hashes = slices.Clone(lock.Hashes)
	return lock, found
}

// Set adds or replaces an entry. It sorts the hashes, and drops duplicates
// and those of unknown schemes. Built-in and legacy providers, and the zero
// Provider, can't be locked: Set ignores their locks.
func (l *Locks) Set(lock Lock) {
	if p := lock.Provider; p.IsBuiltIn() || p.IsLegacy() || p == (getproviders.Provider{}) {
		return
	}
	lock.Hashes = slices.DeleteFunc(hashing.Sort(lock.Hashes), func(h getproviders.Hash) bool {
		return !h.Supported()
	})
	l.put(lock)
}

// put stores an entry as it is.
func (l *Locks) put(lock Lock) {
	if l.providers == nil {
		l.providers = make(map[getproviders.Provider]Lock)
	}
	l.providers[lock.Provider] = lock
}

// Remove drops the entry of p, if any.
func (l *Locks) Remove(p getproviders.Provider) { delete(l.entries(), p) }

// All returns the entries in the order of the file, which is that of
// Provider.Compare.
func (l *Locks) All() []Lock {
	all := make([]Lock, 0, len(l.entries()))
	for _, lock := range l.entries() {
		lock.Hashes = slices.Clone(lock.Hashes)
		all = append(all, lock)
	}
	slices.SortFunc(all, func(a, b Lock) int { return a.Provider.Compare(b.Provider) })
	return all
}

// Empty reports whether there are no entries. A nil *Locks is empty.
func (l *Locks) Empty() bool { return len(l.entries()) == 0 }

// Clone returns a copy that can be changed on its own. The copy of nil is
// empty.
func (l *Locks) Clone() *Locks {
	copied := &Locks{modules: l.orEmpty().modules}
	for _, lock := range l.entries() {
		lock.Hashes = slices.Clone(lock.Hashes)
		copied.put(lock)
	}
	return copied
}

// Equal reports whether two lock files record the same providers, versions and lists of
// hashes. Like Terraform before it writes, it ignores constraints. Lists keep the order
// of their file, so an unsorted list differs from the same list after Set.
func (l *Locks) Equal(o *Locks) bool {
	return maps.EqualFunc(l.entries(), o.entries(), func(a, b Lock) bool {
		return a.Version == b.Version && slices.Equal(a.Hashes, b.Hashes)
	})
}

// Extend is Set, but keeps the hashes that the entry has for the same version,
// even those of unknown schemes, as Terraform's "providers lock" does. Hashes of
// another version go, because they belong to other packages.
func (l *Locks) Extend(lock Lock) {
	old, had := l.Provider(lock.Provider)
	l.Set(lock)
	extended, ok := l.Provider(lock.Provider)
	if !ok || !had || old.Version != lock.Version {
		return
	}
	extended.Hashes = hashing.Sort(append(extended.Hashes, old.Hashes...))
	l.put(extended)
}

// Inherit adds, for each entry of a provider that the product's predecessor published, an entry for
// the provider that replaces it in the product. The new entry has the same version and constraints,
// and no hashes, because the packages differ. Existing entries of the replacing providers aren't
// changed. It returns the old entries that got a new one, in the order of the file.
//
// The old entries stay, because Inherit doesn't know whether anything still requires them.
func (l *Locks) Inherit(product getproviders.Product) (inherited []Lock) {
	for _, lock := range l.All() {
		own, ok := product.Inherits(lock.Provider)
		if _, known := l.Provider(own); !ok || known {
			continue
		}
		l.Set(Lock{Provider: own, Version: lock.Version, Constraints: lock.Constraints})
		inherited = append(inherited, lock)
	}
	return inherited
}
