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

// places has the directories of a tree's modules.
type places struct {
	root  string // the directory of the root module
	dir   string // the directory of modules.json
	files files.System
}

// path returns the path of a recorded directory for this process.
func (p places) path(dir string) string {
	dir = filepath.FromSlash(dir)
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(p.root, dir)
}

// isDir reports whether a recorded directory exists.
func (p places) isDir(recorded string) bool { return p.files.IsDir(p.path(recorded)) }

// relative makes a directory relative to the root module's, after resolving symlinks.
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

// below returns the path of a file or directory relative to dir; false if it is dir itself, or isn't below it.
func below(dir, path string) (rel string, ok bool) {
	dir, path, err := alike(dir, path)
	if err != nil {
		return "", false
	}
	rel, err = filepath.Rel(dir, path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

// recordedDir returns the directory of a package for the record: relative to the root module's, or
// absolute if only one of both was given as an absolute path and the package isn't below the root
// module.
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

// isAway reports whether a directory is outside of a package, after resolving symlinks.
func (p places) isAway(pkgDir, dir string) bool {
	if p.files.FS == nil && dir == p.path(pkgDir) { // most modules: nothing to resolve
		return false
	}
	dir, err := p.files.Physical(dir)
	if err != nil {
		// An unreachable directory is nowhere; but a symlink that an FS can't read may lead
		// anywhere.
		return p.files.FS != nil && !errors.Is(err, fs.ErrNotExist)
	}
	pkg, err := p.files.Physical(p.path(pkgDir))
	return err != nil || !files.IsWithin(pkg, dir)
}

// ErrNoSubdir says that a package doesn't have a directory.
var ErrNoSubdir = errors.New("the package has no directory")

// FindSubdir returns the name of a directory in a package, and its path with symlinks resolved. If isPattern, subdir may be a pattern
// with one match. by follows the name in messages and says who named it, or is "". Errors match [ErrNoSubdir], unless the name leads
// out of the package or the pattern has several matches.
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

// inside returns the path of a file or directory below dir, with symlinks resolved. It is an error
// if any part of the path leads out of dir.
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

// stage is a private directory beside the modules' directories, in which packages are made.
type stage struct {
	*scratch.Dir
	made []string // the parent directories that were created for it
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

// sweep removes the stages of killed runs. The directory's modification time serves as the current time of the
// file system's clock.
func sweep(beside string) {
	if info, err := os.Stat(beside); err == nil {
		scratch.Sweep(beside, info.ModTime())
	}
}

// at returns the path in the stage for a module's package.
func (s stage) at(key string) string { return filepath.Join(s.Path, key) }

// publish renames the package of a module to its final path. It moves the former package to the
// stage, which removes it.
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

// checkLinks refuses to replace or remove a module's package if the directory of all packages is a
// symlink, which may lead to other files.
func checkLinks(final string) error {
	dir := filepath.Dir(final)
	return scratch.CheckLinks(filepath.Dir(dir), final)
}

// remove removes the stage, and the directories created for it if they are empty.
func (s stage) remove() {
	s.Remove()
	scratch.RemoveEmpty(s.made)
}
