package depsfile

import "github.com/tfdeps/tfdeps/getproviders"

// Inherit adds, for each entry of a provider that the product's predecessor
// published, an entry of the provider that takes its place in the product: of the
// same version and constraints, and without hashes, because the packages are
// others. A provider that has an entry keeps it. It returns the entries that were
// added to, in the order of the file.
//
// The old entries stay: whether anything still requires those providers isn't
// known here.
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
