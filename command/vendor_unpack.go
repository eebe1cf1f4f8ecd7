package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// acceptLocks compares the lock file of an archive with the one that it is going
// to replace. The archive may have been made by anybody; what was locked before
// speaks against packages that have none of its hashes.
func (r *vendorRun) acceptLocks(unpacked string) error {
	before, problems := depsfile.Load(filepath.Join(r.opts.target, depsfile.FileName), r.product)
	if problems.HasErrors() {
		return fmt.Errorf("its %s can't be read, and would be replaced", depsfile.FileName)
	}
	after, problems := depsfile.Load(filepath.Join(unpacked, depsfile.FileName), r.product)
	if problems.HasErrors() {
		return fmt.Errorf("the %s in the archive can't be read", depsfile.FileName)
	}
	for _, was := range before.All() {
		is, ok := after.Provider(was.Provider)
		switch {
		case !ok:
			r.replaced = append(r.replaced, fmt.Sprintf("%s %s isn't locked any more", was.Provider, was.Version))
		case is.Version != was.Version:
			r.replaced = append(r.replaced, fmt.Sprintf("%s was locked at %s, and is at %s", was.Provider, was.Version, is.Version))
		case len(was.Hashes) > 0 && !slices.ContainsFunc(was.Hashes, func(h getproviders.Hash) bool { return slices.Contains(is.Hashes, h) }):
			return fmt.Errorf("the archive has other packages of %s %s than %s records there", was.Provider, was.Version, depsfile.FileName)
		}
	}
	return nil
}

// relocked tells of what the lock file doesn't say any more.
func (r *vendorRun) relocked() view.Problems {
	if len(r.replaced) == 0 {
		return nil
	}
	return view.Problems{view.NewWarning("The lock file was replaced by the archive's", fmt.Sprintf(
		"It said something else before:\n\n  - %s", strings.Join(r.replaced, "\n  - ")))}
}
