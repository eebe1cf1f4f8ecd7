package vendorcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/bundle"
)

// bundle fills a directory beside the archive, makes that of it, and leaves the
// working directory as it is.
func (v *vendorRun) bundle() problem.List {
	failed := func(err error) problem.List {
		return problem.List{problem.Error("Failed to write the archive", fmt.Sprintf("%s can't be made: %v.", v.opts.bundle, err))}
	}
	if info, err := os.Stat(v.opts.bundle); err == nil && !info.Mode().IsRegular() {
		return failed(errors.New("there is something else than a file in its place"))
	}
	beside, err := filepath.Abs(filepath.Dir(v.opts.bundle))
	if err == nil {
		beside, err = filepath.EvalSymlinks(beside)
	}
	if err != nil {
		return failed(err)
	}
	scratch.Sweep(beside, v.meta.Now())
	stage, err := scratch.Make(beside)
	if err != nil {
		return failed(err)
	}
	defer stage.Remove()
	v.base = filepath.Join(stage.Path, "content")
	if err := v.seed(); err != nil {
		return failed(err)
	}
	problems := problem.InOrder(v.begin, v.connect, v.vendor, v.hintBundle)
	if problems.HasErrors() {
		return problems
	}
	if err := v.writeBundle(filepath.Join(stage.Path, "bundle.tar")); err != nil {
		return append(problems, failed(err)...)
	}
	return append(problems, done(v.view, fmt.Sprintf("%s has everything that this directory needs. Unpack it over the configuration with \"tfdeps vendor -unpack\".", v.opts.bundle))...)
}

// hintBundle refuses links that the archive can't have.
func (v *vendorRun) hintBundle() problem.List {
	files, err := vendored.Files(v.base, vendored.Places())
	if err != nil {
		return problem.List{problem.Error("Failed to read what is vendored", problem.Sentence(err))}
	}
	for _, f := range vendored.Outside(files) {
		return problem.List{problem.Error("Link out of a module", fmt.Sprintf(
			"%s leads to %s, which the archive can't have.", f.Name, f.Link))}
	}
	return nil
}

// seed takes what is vendored already, so that it needn't be fetched again.
// What isn't needed of it goes again.
func (v *vendorRun) seed() error {
	if err := os.MkdirAll(v.base, 0o755); err != nil {
		return err
	}
	from := filepath.FromSlash(vendored.PluginsDir)
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	return os.CopyFS(filepath.Join(v.base, from), os.DirFS(from))
}

// bringModules brings packages that are in the working directory to where the
// bundle is made, and has all records say where they are going to be.
func (v *vendorRun) bringModules() problem.List {
	if v.base == "." {
		return nil
	}
	made := filepath.ToSlash(v.base) + "/"
	for _, pkg := range v.dir.Tree.Packages() {
		to := v.in(vendored.ModulesDir + "/" + pkg.Key)
		if filepath.Clean(pkg.Path) == filepath.Clean(to) {
			continue
		}
		from, err := filepath.EvalSymlinks(pkg.Path)
		if err == nil {
			err = os.CopyFS(to, os.DirFS(from))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return problem.List{problem.Error("Failed to write the archive", fmt.Sprintf("The module %s: %v.", pkg.Key, err))}
		}
	}
	for _, m := range v.dir.Tree.Modules {
		m.Dir = strings.TrimPrefix(m.Dir, made)
	}
	return nil
}

// writeBundle writes the archive, and puts it into its place by a rename.
func (v *vendorRun) writeBundle(temporary string) error {
	files, err := vendored.Files(v.base, append(vendored.Places(), vendored.LockFiles()...))
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
	_, err = bundle.Write(v.meta.Context, out, v.base, entries)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, v.opts.bundle)
}
