package getproviders

import "github.com/tfdeps/tfdeps/internal/disk"

// Failed returns an error with the provider and the step. It matches err, and ErrNoSpace if a disk is full.
func (s Selection) Failed(step string, err error) *Fault {
	failed := &Fault{Subject: Subject{Provider: s.Provider, Version: s.Version, Step: step}, Err: err}
	if disk.IsFull(err) {
		failed.Code, failed.Kind = "no_space", ErrNoSpace
	}
	return failed
}

// Selected returns the selection.
func (s Selection) Selected() Selection { return s }

// Selection is a provider with the version that was selected for it.
type Selection struct {
	Provider    Provider    `json:"provider"`
	Version     Version     `json:"version"`
	Constraints Constraints `json:"constraints"`
	Locked      bool        `json:"locked"` // the version comes from the lock file
}

// PackageSpec is a package for the cache.
type PackageSpec struct {
	Provider    Provider
	Version     Version     // zero means the newest that Constraints allow
	Constraints Constraints // used only without a version
	Hashes      []Hash      // of a lock file; without any, only the package's source authenticates it
}

// Selected returns the selection that errors name.
func (w PackageSpec) Selected() Selection {
	return Selection{Provider: w.Provider, Version: w.Version, Constraints: w.Constraints}
}
