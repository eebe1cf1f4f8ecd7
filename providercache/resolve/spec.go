package resolve

import "github.com/tfdeps/tfdeps/getproviders"

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
