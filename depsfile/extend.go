package depsfile

import "github.com/tfdeps/tfdeps/getproviders"

// Extend is Set for who adds to an entry: hashes of unknown schemes that it
// holds stay, as they do when the real tool's "providers lock" adds to it.
// Those of another version go, since they are about other packages.
func (l *Locks) Extend(lock Lock) {
	old, had := l.Provider(lock.Provider)
	l.Set(lock)
	extended, ok := l.Provider(lock.Provider)
	if !ok || !had || old.Version != lock.Version {
		return
	}
	extended.Hashes = getproviders.SortHashes(append(extended.Hashes, old.Hashes...))
	l.put(extended)
}
