package modulelock

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Lock is what the lock file records of one module call, or what is installed
// for it.
type Lock struct {
	Key     string            // names of calls from the root, joined by dots
	Source  string            // normalised, as modules.json has it; secrets are taken out where a Lock is used
	Version string            // normalised; "" if the module isn't a registry's
	Commit  string            // of a git repository, in full; "" for others, and if it isn't known
	Hash    getproviders.Hash // of the package: see HashTree
}

// plain is the lock as it stands in the file.
func (l Lock) plain() Lock {
	l.Source = plainSource(l.Source)
	return l
}

// Locks is the content of a lock file. The zero value is empty and ready to
// use, and a nil *Locks is empty and read-only. Not safe for concurrent change.
type Locks struct {
	modules map[string]Lock
}

// entries is nil-safe.
func (l *Locks) entries() map[string]Lock {
	if l == nil {
		return nil
	}
	return l.modules
}

// Module returns the entry of a key.
func (l *Locks) Module(key string) (Lock, bool) {
	lock, found := l.entries()[key]
	return lock, found
}

// Set adds or replaces an entry.
func (l *Locks) Set(lock Lock) {
	if l.modules == nil {
		l.modules = make(map[string]Lock)
	}
	l.modules[lock.Key] = lock.plain()
}

// Remove drops an entry, if there is one.
func (l *Locks) Remove(key string) { delete(l.entries(), key) }

// All returns the entries in the order of the file.
func (l *Locks) All() []Lock {
	all := make([]Lock, 0, len(l.entries()))
	for _, key := range slices.Sorted(maps.Keys(l.entries())) {
		all = append(all, l.modules[key])
	}
	return all
}

// Empty reports whether there are no entries. A nil *Locks is empty.
func (l *Locks) Empty() bool { return len(l.entries()) == 0 }

// Equal reports whether two lock files record the same.
func (l *Locks) Equal(o *Locks) bool { return maps.Equal(l.entries(), o.entries()) }
