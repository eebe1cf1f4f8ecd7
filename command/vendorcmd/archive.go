package vendorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/bundle"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// writeArchive fills a directory beside the archive, makes that of it, and leaves
// the working directory as it is.
func writeArchive(r request) bool {
	failed := func(err error) bool {
		return r.log.Fail("unwritable", "Failed to write the archive", "%s can't be made: %v.", r.opts.bundle, err)
	}
	if info, err := os.Stat(r.opts.bundle); err == nil && !info.Mode().IsRegular() {
		return failed(errors.New("there is something else than a file in its place"))
	}
	beside, err := filepath.Abs(filepath.Dir(r.opts.bundle))
	if err == nil {
		beside, err = filepath.EvalSymlinks(beside)
	}
	if err != nil {
		return failed(err)
	}
	scratch.Sweep(beside, r.meta.Now())
	stage, err := scratch.Make(beside)
	if err != nil {
		return failed(err)
	}
	defer stage.Remove()
	r.base = filepath.Join(stage.Path, "content")
	if err := seed(r.base); err != nil {
		return failed(err)
	}
	if p, ok := read(r); !ok || !fill(r, p) || !refuseLinks(r) {
		return false
	}
	if err := writeBundle(r, filepath.Join(stage.Path, "bundle.tar")); err != nil {
		return failed(err)
	}
	r.view.Done(fmt.Sprintf("%s has everything that this directory needs. Unpack it over the configuration with \"tfdeps vendor -unpack\".", r.opts.bundle))
	return true
}

// refuseLinks refuses links that the archive can't have.
func refuseLinks(r request) bool {
	files, err := vendored.Files(r.base, vendored.Places())
	if err != nil {
		return r.log.Failed("vendored", "Failed to read what is vendored", err)
	}
	for _, f := range vendored.Outside(files) {
		return r.log.Fail("vendored", "Link out of a module",
			"%s leads to %s, which the archive can't have.", f.Name, f.Link)
	}
	return true
}

// seed takes what is vendored already, so that it needn't be fetched again.
// What isn't needed of it goes again.
func seed(base string) error {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	from := filepath.FromSlash(vendored.PluginsDir)
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	return os.CopyFS(filepath.Join(base, from), os.DirFS(from))
}

// bringModules brings packages that are in the working directory to where the
// bundle is made, and has all records say where they are going to be.
func bringModules(r request, tree *modules.Tree) bool {
	if r.here() {
		return true
	}
	made := filepath.ToSlash(r.base) + "/"
	for _, pkg := range tree.Packages() {
		to := r.in(vendored.ModulesDir + "/" + pkg.Key)
		if filepath.Clean(pkg.Path) == filepath.Clean(to) {
			continue
		}
		from, err := filepath.EvalSymlinks(pkg.Path)
		if err == nil {
			err = os.CopyFS(to, os.DirFS(from))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return r.log.Fail("unwritable", "Failed to write the archive", "The module %s: %v.", pkg.Key, err)
		}
	}
	for _, m := range tree.Modules {
		m.Dir = strings.TrimPrefix(m.Dir, made)
	}
	return true
}

// writeBundle writes the archive, and puts it into its place by a rename.
func writeBundle(r request, temporary string) error {
	files, err := vendored.Files(r.base, append(vendored.Places(), vendored.LockFiles()...))
	if err != nil {
		return err
	}
	var entries []bundle.Entry
	for i, f := range files {
		if _, ok := vendored.Unit(f.Name); ok && (i == 0 || files[i-1].Name != f.Name) {
			entries = append(entries, bundle.Entry{Path: f.Name, Link: f.Link, Executable: f.Link == "" && f.Mode&0o100 != 0})
		}
	}
	out, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = bundle.Write(r.meta.Context, out, r.base, entries)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return patient.Rename(temporary, r.opts.bundle)
}
