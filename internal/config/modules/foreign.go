package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/files"
)

// A module is foreign if it comes from a registry, a repository, an archive or a
// page, or is called by a path from one that does. Its author could have
// private files shown or committed, so that it reaches nothing of this machine but
// its own package.

// isOnMachine reports whether a package would be read from this machine's files, by
// whatever program: what is elsewhere has a host.
func (r Remote) isOnMachine() bool {
	forced, location := SplitForced(r.Package)
	u, err := url.Parse(location)
	return err != nil || u.Host == "" || u.Scheme == "file" || forced == "file"
}

// isArchiveName reports whether a file of this name is unpacked.
func isArchiveName(name string) bool {
	at := strings.LastIndexByte(name, '.') + 1
	return at > 0 && slices.Contains([]string{"bz2", "gz", "tbz2", "tgz", "txz", "xz", "zip"}, name[at:])
}

// IsDirectory reports whether a package is a directory of this machine, which is used
// where it is. Archives and repositories on this machine are not.
func (r Remote) IsDirectory() bool {
	forced, location := SplitForced(r.Package)
	u, err := url.Parse(location)
	return err == nil && u.Scheme == "file" && (forced == "" || forced == "file") && !isArchiveName(u.Path) && !u.Query().Has("archive")
}

// isForeign reports whether what a module in the root configuration calls by this
// address is foreign.
func isForeign(address Address) bool {
	switch address := address.(type) {
	case Local:
		return false
	case Remote:
		return !address.IsDirectory()
	}
	return true
}

// checkAnswer refuses an address that a registry answered with, if it leads to files of this
// machine.
func checkAnswer(remote Remote) error {
	if !remote.isOnMachine() {
		return nil
	}
	return fmt.Errorf("the location %q is one on this machine, which no registry may lead to. "+
		"If you want what is there, name it as the source in your own configuration", shown(remote))
}

// Refused is the extra of a problem with a call of a foreign module that would reach
// files of this machine.
type Refused struct{}

// checkReach refuses calls of files of this machine by foreign modules.
func checkReach(s *step) *hcl.Diagnostic {
	remote, ok := s.address.(Remote)
	if !ok || !s.parent.foreign || !remote.isOnMachine() {
		return nil
	}
	diag := diagnostic.Error(s.call.SourceRange, "Module leads to files of this machine",
		"The source of %s, which the package %q calls, is %q. What comes from a registry, a repository or an archive may use no files of this machine. "+
			"If you want it to, put a copy of the module with this call into your own configuration, and call that by its path.",
		s.path, Redact(s.parent.pkg), shown(remote))
	diag.Extra = Refused{}
	return diag
}

// strays reports whether a module is recorded to be outside of the package that it
// is in, though it is foreign.
func (w *walk) strays(s *step) bool {
	child := &Module{Record: s.recorded}
	child.setPackage(s.parent, s.address, w.recordedDir(s.key))
	return child.foreign && w.isAway(child.pkgDir, w.at(child.Dir))
}

// isAway reports whether a directory isn't in a package, with symlinks followed.
func (w *walk) isAway(pkgDir, dir string) bool {
	dir, err := w.files().Physical(dir)
	if err != nil {
		// What can't be reached isn't anywhere; but a symlink that an FS can't read leads anywhere.
		return w.FS != nil && !errors.Is(err, fs.ErrNotExist)
	}
	pkg, err := w.files().Physical(w.at(pkgDir))
	return err != nil || !files.IsWithin(pkg, dir)
}

// Inside returns the directory or file with a name below a directory, with symlinks
// followed. It is an error if any part of the way to it leads out of the directory.
func Inside(dir, name string) (string, error) {
	root, err := files.System{}.Physical(dir)
	if err != nil {
		return "", err
	}
	at, found := root, root
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Clean(filepath.FromSlash(name))), "/") {
		at = filepath.Join(at, part)
		if found, err = filepath.EvalSymlinks(at); err != nil {
			return "", err
		}
		if !files.IsWithin(root, found) {
			return "", &getproviders.Fault{
				Err: fmt.Errorf("the subdirectory %q %w, maybe by a symlink", name, errOutside), Hint: "name a directory that is in the package itself",
			}
		}
	}
	return found, nil
}
