package resolve

import "github.com/tfdeps/tfdeps/getproviders"

// Wanted is a package that the cache is to hold.
type PackageSpec struct {
	Provider    getproviders.Provider
	Version     getproviders.Version     // zero: the newest that Constraints allow
	Constraints getproviders.Constraints // counts only without a version
	Hashes      []getproviders.Hash      // as a lock file records them; none: the source decides what is genuine
}

// selection and the failures of a Wanted are those of its version.
func (w PackageSpec) Selected() Selection {
	return Selection{Provider: w.Provider, Version: w.Version, Constraints: w.Constraints}
}
