package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// places are where the modules of a tree are.
type places struct {
	root  string // the directory of the root module
	dir   string // that of modules.json
	files files.System
}

// path returns where a recorded directory is for this process.
func (p places) path(dir string) string {
	dir = filepath.FromSlash(dir)
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(p.root, dir)
}

// isDir reports whether what is recorded as a directory is one.
func (p places) isDir(recorded string) bool { return p.files.IsDir(p.path(recorded)) }

// relative makes a directory without symlinks relative to that of the root
// module.
func (p places) relative(dir string) (string, error) {
	if filepath.Clean(p.root) == "." {
		return dir, nil
	}
	root, dir, err := alike(p.root, dir)
	if err != nil {
		return "", err
	}
	if root, err = p.files.EvalSymlinks(root); err != nil {
		return "", err
	}
	if dir, err = p.files.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return filepath.Rel(root, dir)
}

// alike makes both paths absolute if one of them is.
func alike(a, b string) (string, string, error) {
	if filepath.IsAbs(a) == filepath.IsAbs(b) {
		return a, b, nil
	}
	a, err := filepath.Abs(a)
	if err != nil {
		return "", "", err
	}
	b, err = filepath.Abs(b)
	return a, b, err
}

// recordedDir is the directory of a package, as it is to be recorded: relative
// to that of the root module. If only one of the two was given as an absolute path,
// and neither is in the other, it is absolute.
func (p places) recordedDir(key string) string {
	dir := filepath.Join(p.dir, key)
	root, full, err := alike(p.root, dir)
	rel := ""
	if err == nil {
		rel, err = filepath.Rel(root, full)
	}
	switch {
	case err != nil || filepath.Clean(p.root) == ".":
	case filepath.IsAbs(p.root) != filepath.IsAbs(p.dir) && !filepath.IsLocal(rel):
		dir = full
	default:
		dir = rel
	}
	return filepath.ToSlash(dir)
}

// isAway reports whether a directory isn't in a package, with symlinks followed.
func (p places) isAway(pkgDir, dir string) bool {
	if p.files.FS == nil && dir == p.path(pkgDir) { // as most modules are: there is nothing to follow
		return false
	}
	dir, err := p.files.Physical(dir)
	if err != nil {
		// What can't be reached isn't anywhere; but a symlink that an FS can't read leads anywhere.
		return p.files.FS != nil && !errors.Is(err, fs.ErrNotExist)
	}
	pkg, err := p.files.Physical(p.path(pkgDir))
	return err != nil || !files.IsWithin(pkg, dir)
}

// ErrNoSubdir says that a package hasn't got a directory.
var ErrNoSubdir = errors.New("the package has no directory")

// FindSubdir returns the name of a directory in a package, and where it is when symlinks are followed. What is given may be
// a pattern of which there is one match; by says in words that follow it who named it, or is "". Errors match [ErrNoSubdir], unless the
// name leads out of the package or has several matches.
func FindSubdir(dir, subdir, by string, isPattern bool) (name, found string, err error) {
	if isPattern {
		matches, err := fs.Glob(os.DirFS(dir), subdir)
		switch {
		case err != nil:
			return "", "", fmt.Errorf("the subdirectory %q is not a pattern of names: %w", subdir, err)
		case len(matches) > 1:
			return "", "", fmt.Errorf("the package has several directories that match %q%s: %q is one, %q another", subdir, by, matches[0], matches[1])
		case len(matches) == 1:
			subdir = matches[0]
		}
	}
	found, err = inside(dir, subdir)
	if !errors.Is(err, errOutside) && (err != nil || !(files.System{}).IsDir(found)) {
		err = fmt.Errorf("%w %q%s", ErrNoSubdir, subdir, by)
	}
	return subdir, found, err
}

// inside returns the directory or file with a name below a directory, with symlinks
// followed. It is an error if any part of the way to it leads out of the directory.
func inside(dir, name string) (string, error) {
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

// stage is a private directory, beside the places of modules, in which
// packages are made.
type stage struct {
	*scratch.Dir
	made []string // the directories above it that it needed
}

// newStage makes a stage.
func newStage(beside string) (stage, error) {
	made, err := scratch.MakeDirs(beside)
	if err != nil {
		return stage{}, err
	}
	dir, err := scratch.Make(beside)
	if err != nil {
		return stage{}, err
	}
	sweep(beside)
	return stage{dir, made}, nil
}

// sweep removes the stages that killed runs have left. When something there changed last is the latest time that
// the file system's clock is known to have shown.
func sweep(beside string) {
	if info, err := os.Stat(beside); err == nil {
		scratch.Sweep(beside, info.ModTime())
	}
}

// at is where the package of a module is made.
func (s stage) at(key string) string { return filepath.Join(s.Path, key) }

// publish moves the package of a module to its place. What is there goes to
// the stage, and is removed with it.
func (s stage) publish(key, final string) error {
	if err := checkLinks(final); err != nil {
		return err
	}
	replaced := filepath.Join(s.Path, ".replaced-"+key)
	err := patient.Rename(final, replaced)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := patient.Rename(s.at(key), final); err != nil {
		_ = patient.Rename(replaced, final)
		return err
	}
	return nil
}

// checkLinks refuses to replace or remove the package of a module where the directory of
// all packages is a symlink: what lies there may be anything.
func checkLinks(final string) error {
	dir := filepath.Dir(final)
	return scratch.CheckLinks(filepath.Dir(dir), final)
}

// remove removes the stage, and what was made for it if nothing came of it.
func (s stage) remove() {
	s.Remove()
	scratch.RemoveEmpty(s.made)
}
