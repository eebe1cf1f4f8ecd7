package modules

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/configs"
)

// find returns the record of the module that a call means: the one that there
// is, if it may be kept, else a new one.
func (w *walk) find(parent, child *Module, call configs.ModuleCall, address Address) (Record, *hcl.Diagnostic) {
	recorded, ok := w.tree.Manifest[child.Key]
	fits := ok && recorded.Source == child.Source && satisfies(recorded.Version, call.Version)
	switch {
	case w.Mode == Recorded:
		return recorded, w.outdated(call, child, recorded, ok)
	case w.Mode == Normal && fits && isDir(w.at(recorded.Dir)):
		return recorded, nil
	}
	local, isLocal := address.(Local)
	if !isLocal {
		return Record{}, notFetched(w.Engine, w.Mode, call, child)
	}
	dir, diag := w.resolveLocal(parent, local, call)
	if diag != nil {
		return Record{}, diag
	}
	if !fits || w.Mode == Upgrade {
		w.tree.Manifest.forget(child.Key)
	}
	record := Record{Key: child.Key, Source: child.Source, Dir: dir}
	w.tree.Manifest[child.Key] = record
	w.tree.replaced = append(w.tree.replaced, child.Key)
	if w.Observe != nil {
		w.Observe(record)
	}
	return record, nil
}

// satisfies reports whether a recorded version is one that a call wants.
func satisfies(recorded, constraint string) bool {
	if constraint == "" {
		return true
	}
	v, err := version.NewVersion(recorded)
	if err != nil {
		return false
	}
	constraints, err := version.NewConstraint(constraint)
	return err == nil && constraints.Check(v)
}

// at returns where a recorded directory is for this process.
func (w *walk) at(dir string) string {
	dir = filepath.FromSlash(dir)
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(w.root, dir)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// resolveLocal returns the directory that a path relative to a module leads
// to, as it is to be recorded.
func (w *walk) resolveLocal(parent *Module, local Local, call configs.ModuleCall) (string, *hcl.Diagnostic) {
	joined := filepath.Join(w.at(parent.Dir), filepath.FromSlash(string(local)))
	dir, err := filepath.EvalSymlinks(joined)
	if err == nil && isDir(dir) {
		dir, err = w.relative(dir)
		return filepath.ToSlash(dir), unreadable(call, joined, err)
	}
	if err == nil {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if parent.pkg != "" && isOutside(w.at(parent.pkgDir), joined) {
		return "", escapes(call, parent)
	}
	return "", unreadable(call, joined, err)
}

// relative makes a directory without symlinks relative to that of the root
// module.
func (w *walk) relative(dir string) (string, error) {
	if filepath.Clean(w.root) == "." {
		return dir, nil
	}
	root, err := filepath.EvalSymlinks(w.root)
	if err != nil {
		return "", err
	}
	return filepath.Rel(root, dir)
}

// isOutside reports whether a path isn't below a directory.
func isOutside(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err != nil || !filepath.IsLocal(rel)
}

// setPackage notes which package the module is in: its own, or that of the
// module that calls it by a path.
func (m *Module) setPackage(parent *Module, address Address) {
	switch address := address.(type) {
	case Registry:
		m.pkg, m.pkgDir = address.Package(), above(m.Dir, address.Subdir)
	case Remote:
		m.pkg, m.pkgDir = address.Package, above(m.Dir, address.Subdir)
	default:
		m.pkg, m.pkgDir = parent.pkg, parent.pkgDir
	}
}

// above is the directory that subdir leads from to dir, as far as that can be told.
func above(dir, subdir string) string {
	if rest, ok := cutDir(path.Clean(dir), path.Clean(subdir)); ok {
		return rest
	}
	return dir
}

func cutDir(dir, subdir string) (string, bool) {
	if subdir == "." {
		return dir, true
	}
	for subdir != "." {
		if path.Base(dir) != path.Base(subdir) {
			return "", false
		}
		dir, subdir = path.Dir(dir), path.Dir(subdir)
	}
	return dir, true
}

// isRepeated reports whether one of the modules that led here is in the same
// directory: it would lead here again, and so on.
func (m *Module) isRepeated() bool {
	return slices.Contains(m.parents, m.Dir)
}
