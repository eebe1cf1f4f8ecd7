package getproviders

import "github.com/tfdeps/tfdeps/internal/disk"

// Failed names the provider and the step for an error. It matches what the error does, and ErrNoSpace if a disk is full.
func (s Selection) Failed(step string, err error) *Fault {
	failed := &Fault{Subject: Subject{Provider: s.Provider, Version: s.Version, Step: step}, Err: err}
	if disk.IsFull(err) {
		failed.Code, failed.Kind = "no_space", ErrNoSpace
	}
	return failed
}

// Selected returns the selection itself.
func (s Selection) Selected() Selection { return s }

// Selection is a provider with the version that was chosen for it.
type Selection struct {
	Provider    Provider    `json:"provider"`
	Version     Version     `json:"version"`
	Constraints Constraints `json:"constraints"`
	Locked      bool        `json:"locked"` // the lock file decided
}

// PackageSpec is a package that the cache is to hold.
type PackageSpec struct {
	Provider    Provider
	Version     Version     // zero: the newest that Constraints allow
	Constraints Constraints // counts only without a version
	Hashes      []Hash      // as a lock file records them; none: the package is authenticated by its source alone
}

// Selected returns what failures name.
func (w PackageSpec) Selected() Selection {
	return Selection{Provider: w.Provider, Version: w.Version, Constraints: w.Constraints}
}
