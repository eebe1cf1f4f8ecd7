package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/bundle"
)

// bundle fills a directory beside the archive, makes that of it, and leaves the
// working directory as it is.
func (r *vendorRun) bundle() view.Problems {
	failed := func(err error) view.Problems {
		return view.Problems{view.NewError("Failed to write the archive", fmt.Sprintf("%s can't be made: %v.", r.opts.bundle, err))}
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
	scratch.Sweep(beside, r.Now())
	stage, err := scratch.Make(beside)
	if err != nil {
		return failed(err)
	}
	defer stage.Remove()
	r.base = filepath.Join(stage.Path, "content")
	if err := r.seed(); err != nil {
		return failed(err)
	}
	problems := r.inOrder(r.begin, r.connect, r.vendor, r.hintBundle)
	if problems.HasErrors() {
		return problems
	}
	if err := r.writeBundle(filepath.Join(stage.Path, "bundle.tar")); err != nil {
		return append(problems, failed(err)...)
	}
	return append(problems, r.done(fmt.Sprintf("%s has everything that this directory needs. Unpack it over the configuration with \"tfdeps vendor -unpack\".", r.opts.bundle))...)
}

// hintBundle refuses links that the archive can't have.
func (r *vendorRun) hintBundle() view.Problems {
	files, err := vendored.Files(r.base, vendored.Places())
	if err != nil {
		return view.Problems{view.NewError("Failed to read what is vendored", sentence(err))}
	}
	for _, f := range vendored.Outside(files) {
		return view.Problems{view.NewError("Link out of a module", fmt.Sprintf(
			"%s leads to %s, which the archive can't have.", f.Name, f.Link))}
	}
	return nil
}

// seed takes what is vendored already, so that it needn't be fetched again.
// What isn't needed of it goes again.
func (r *vendorRun) seed() error {
	if err := os.MkdirAll(r.base, 0o755); err != nil {
		return err
	}
	from := filepath.FromSlash(vendored.PluginsDir)
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	return os.CopyFS(filepath.Join(r.base, from), os.DirFS(from))
}

// bringModules brings packages that are in the working directory to where the
// bundle is made, and has all records say where they are going to be.
func (r *vendorRun) bringModules() view.Problems {
	if r.base == "." {
		return nil
	}
	made := filepath.ToSlash(r.base) + "/"
	for _, pkg := range r.tree.Packages() {
		to := r.in(vendored.ModulesDir + "/" + pkg.Key)
		if filepath.Clean(pkg.Path) == filepath.Clean(to) {
			continue
		}
		from, err := filepath.EvalSymlinks(pkg.Path)
		if err == nil {
			err = os.CopyFS(to, os.DirFS(from))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return view.Problems{view.NewError("Failed to write the archive", fmt.Sprintf("The module %s: %v.", pkg.Key, err))}
		}
	}
	for _, m := range r.tree.Modules {
		m.Dir = strings.TrimPrefix(m.Dir, made)
	}
	return nil
}

// writeBundle writes the archive, and puts it into its place by a rename.
func (r *vendorRun) writeBundle(temporary string) error {
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
	_, err = bundle.Write(r.Context, out, r.base, entries)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, r.opts.bundle)
}

// unbundle unpacks an archive.
func (r *vendorRun) unbundle() view.Problems {
	failed := func(err error) view.Problems {
		return view.Problems{view.NewError("Failed to unpack the archive", fmt.Sprintf(
			"Nothing of %s was unpacked, and %s is as it was: %v.", r.opts.unpack, r.opts.target, err))}
	}
	info, err := os.Stat(r.opts.unpack)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", r.opts.unpack)
	}
	if err != nil {
		return failed(err)
	}
	if info, err = os.Stat(r.opts.target); err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", r.opts.target)
	}
	if err != nil {
		return failed(err)
	}
	file, err := os.Open(r.opts.unpack)
	if err != nil {
		return failed(err)
	}
	defer file.Close()
	manifest, err := bundle.Unpack(r.Context, file, bundle.Options{Dir: r.opts.target, Unit: vendored.Unit, Accept: r.acceptLocks, Last: vendored.LockFiles()})
	if err != nil {
		return failed(err)
	}
	for _, e := range manifest.Files {
		if unit, _ := vendored.Unit(e.Path); unit == e.Path {
			r.view.Changed(path.Join(filepath.ToSlash(r.opts.target), e.Path))
		}
	}
	return append(r.relocked(), r.done(fmt.Sprintf("Unpacked %d files. \"tfdeps vendor -check\" compares them with the configuration.", len(manifest.Files)))...)
}
