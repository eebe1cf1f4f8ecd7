package store

import (
	"slices"

	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// PackageSpecs lists what lock files select, in the order of addresses and versions.
// A version that several select has the hashes of all of them.
func PackageSpecs(locked Locked) (wanted []resolve.PackageSpec) {
	for name, hashes := range locked {
		wanted = append(wanted, resolve.PackageSpec{Provider: name.Provider, Version: name.Version, Hashes: hashes})
	}
	slices.SortFunc(wanted, func(a, b resolve.PackageSpec) int {
		if by := a.Provider.Compare(b.Provider); by != 0 {
			return by
		}
		return a.Version.Compare(b.Version)
	})
	return wanted
}
