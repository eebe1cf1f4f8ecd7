package modules

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/files"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// findLevel finds out for each call of a level where its module is: where it is
// recorded to be, where the path leads to, or where its package is to be
// fetched from.
func (w *walk) findLevel(level []*step) {
	var open []*step
	for _, s := range level {
		if !s.failed() {
			s.fail(w.find(s))
		}
		if !s.failed() && s.record.Dir == "" {
			open = append(open, s)
		}
	}
	w.locate(open)
}

// find looks for the module of a call in the record, and where it may not be
// kept, among the directories if its source is one.
func (w *walk) find(s *step) *hcl.Diagnostic {
	address, err := w.parseCall(s.call)
	if err != nil {
		return invalidSource(s.call, err)
	}
	s.address = address
	if _, isRemote := address.(Remote); isRemote && s.isRun && !dialect.Of(w.Product).Understands("remote_runs") {
		return remoteRun(s.call, address)
	}
	if diag := checkReach(s); diag != nil {
		return diag
	}
	if _, isPath := address.(Local); w.Allow != nil && !isPath {
		if err := w.Allow(address, s.call.Version); err != nil {
			return refused(s.call, err)
		}
	}
	s.recorded, s.known = w.tree.Manifest[s.key]
	fits := s.known && s.recorded.Source == address.String() && satisfies(s.recorded.Version, s.call.Version)
	switch {
	case w.Mode == AsRecorded, w.FS != nil && !isLocalAddress(address):
		s.record = s.recorded
		return w.outdated(s)
	case w.Mode == Normal && fits && w.isDir(w.at(s.recorded.Dir)) && !w.strays(s):
		s.record = s.recorded
		return nil
	}
	s.record = Record{Key: s.key, Source: address.String()}
	local, isLocal := address.(Local)
	if !isLocal {
		return nil
	}
	dir, diag := w.resolveLocal(s.parent, local, s.call)
	if diag != nil {
		return diag
	}
	if !fits || w.Mode == Upgrade {
		w.tree.Manifest.forget(s.key)
	}
	s.record.Dir = dir
	w.tree.replaced = append(w.tree.replaced, s.key)
	w.recordNow(s)
	return nil
}

// parseCall reads the source of a call; only registries have versions.
func (w *walk) parseCall(call load.ModuleCall) (Address, error) {
	if call.VersionRange != (hcl.Range{}) {
		return ParseRegistry(call.Source, w.Product)
	}
	return ParseAddress(call.Source, w.Product)
}

// recordNow records where the module of a call is.
func (w *walk) recordNow(s *step) {
	w.tree.Manifest[s.key] = s.record
	w.emit(Recorded{s.record})
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
func (w *walk) at(dir string) string { return w.tree.at(dir) }

// files are where the tree is.
func (w *walk) files() files.System { return files.System{FS: w.FS} }

func (w *walk) isDir(name string) bool { return w.files().IsDir(name) }

// resolveLocal returns the directory that a path relative to a module leads
// to, as it is to be recorded.
func (w *walk) resolveLocal(parent *Module, local Local, call load.ModuleCall) (string, *hcl.Diagnostic) {
	joined := filepath.Join(w.at(parent.Dir), filepath.FromSlash(string(local)))
	dir, err := w.files().EvalSymlinks(joined)
	if err == nil && parent.foreign && w.isAway(parent.pkgDir, dir) {
		return "", escapes(call, parent)
	}
	if err == nil && w.isDir(dir) {
		dir, err = w.relative(dir)
		return filepath.ToSlash(dir), unreadable(call, joined, err)
	}
	if err == nil {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	if parent.pkg != "" && !files.IsWithin(w.at(parent.pkgDir), joined) {
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
	root, dir, err := alike(w.root, dir)
	if err != nil {
		return "", err
	}
	if root, err = w.files().EvalSymlinks(root); err != nil {
		return "", err
	}
	if dir, err = w.files().EvalSymlinks(dir); err != nil {
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

// setPackage notes which package the module is in: its own, which is usually in
// the directory that belongs to the key, or that of the module that calls it
// by a path.
func (m *Module) setPackage(parent *Module, address Address, usual string) {
	subdir := ""
	switch address := address.(type) {
	case Registry:
		m.pkg, subdir = address.Package(), address.Subdir
	case Remote:
		m.pkg, subdir = address.Package, address.Subdir
	default:
		m.pkg, m.pkgDir, m.foreign = parent.pkg, parent.pkgDir, parent.foreign
		return
	}
	m.foreign = parent.foreign || isForeign(address)
	if m.pkgDir = usual; m.Dir != usual && !strings.HasPrefix(m.Dir, usual+"/") {
		m.pkgDir = above(m.Dir, m.Key, subdir)
	}
}

// above is the package of a module that is in dir, as far as that is known: what
// belongs to the key in another directory for modules, or where subdir leads from.
func above(dir, key, subdir string) string {
	place := "/modules/" + key
	if i := strings.LastIndex(dir+"/", place+"/"); i >= 0 {
		return dir[:i] + place
	}
	if rest, ok := cutDir(path.Clean(dir), path.Clean(subdir)); ok {
		return rest
	}
	return dir
}

func cutDir(dir, subdir string) (string, bool) {
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
