package vendorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/bundle"
	"github.com/tfdeps/tfdeps/internal/config/modulelock"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/config/vendored"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/locktext"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
)

// writeArchive fills a staging directory beside the archive, packs it, and doesn't change
// the working directory.
func writeArchive(r request) error {
	if info, err := os.Stat(r.opts.bundle); err == nil && !info.Mode().IsRegular() {
		return errors.New("what is there isn't a file: move it away, or give another name")
	}
	beside, err := filepath.Abs(filepath.Dir(r.opts.bundle))
	if err == nil {
		beside, err = filepath.EvalSymlinks(beside)
	}
	if err != nil {
		return err
	}
	scratch.Sweep(beside, r.Meta.Now())
	stage, err := scratch.Make(beside)
	if err != nil {
		return err
	}
	defer stage.Remove()
	r.base = filepath.Join(stage.Path, "content")
	if err := seed(r.Meta.Context, r.base); err != nil {
		return err
	}
	if p, ok := read(r); !ok || !fill(r, p) || !refuseLinks(r) {
		return nil // the log says why
	}
	if err := writeBundle(r, filepath.Join(stage.Path, "bundle.tar")); err != nil {
		return err
	}
	r.view.Done(fmt.Sprintf("%s has everything that this directory needs. Unpack it over the configuration with \"%s vendor -unpack\".", r.opts.bundle, r.Called))
	return nil
}

// refuseLinks refuses symlinks out of the vendored directories.
func refuseLinks(r request) bool {
	files, err := vendored.Files(r.base, vendored.Places())
	if err != nil {
		return r.Log.Failed("vendored", "Failed to read what is vendored", err)
	}
	for _, f := range vendored.Outside(files) {
		return r.Log.Fail("vendored", "Link out of a module",
			"%s leads to %s, outside of what is vendored: the archive can't have such a link.", f.Name, f.Link)
	}
	return true
}

// seed copies the packages that are vendored already, so that they needn't be fetched again.
// Those that aren't needed are removed later.
func seed(ctx context.Context, base string) error {
	from := filepath.FromSlash(vendored.PluginsDir)
	to := filepath.Join(base, from)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return nil
	}
	return link.CopyTree(ctx, from, to, true)
}

// bringModules copies module packages from the working directory into the staging
// directory, and sets their final paths in all records.
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
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = link.CopyTree(r.Meta.Context, from, to, true)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return r.Log.Fail("unwritable", "Failed to write the archive", "The module %s: %v.", pkg.Key, err)
		}
	}
	for _, m := range tree.Modules {
		m.Dir = strings.TrimPrefix(m.Dir, made)
	}
	return true
}

// writeBundle writes the archive, and publishes it by a rename.
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
	_, err = bundle.Write(r.Meta.Context, out, r.base, entries)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return patient.Rename(temporary, r.opts.bundle)
}

// unpack unpacks an archive.
func unpack(r request) error {
	o := r.opts
	info, err := os.Stat(o.unpack)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", o.unpack)
	}
	if err != nil {
		return err
	}
	size := info.Size()

	info, err = os.Stat(o.target)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", o.target)
	}
	if err != nil {
		return err
	}
	file, err := os.Open(o.unpack)
	if err != nil {
		return err
	}
	defer file.Close()
	manifest, err := bundle.Unpack(r.Meta.Context, file, bundle.Options{
		Dir:          o.target,
		ArchiveBytes: size,
		Unit:         vendored.Unit,
		Accept:       r.acceptLocks,
		Last:         vendored.LockFiles(),
	})
	if err != nil {
		return err
	}
	for _, e := range manifest.Files {
		if unit, _ := vendored.Unit(e.Path); unit == e.Path {
			r.view.Changed(path.Join(filepath.ToSlash(o.target), e.Path))
		}
	}
	r.view.Done(fmt.Sprintf("Unpacked %s. \"%s -chdir=%s init -offline\" works with it alone, and names what the configuration needs beside it.", o.unpack, r.Called, o.target))
	return nil
}

// acceptLocks lets the target's lock files decide, because an attacker may have
// made the archive. The archive's lock files are only used for entries that the target doesn't have, and for
// hashes of -accept-hash. Everything unpacked has to match the resulting lock files.
func (r request) acceptLocks(unpacked string) error {
	locks, refused, err := r.decideProviders(unpacked)
	if err != nil {
		return err
	}
	moduleLocks, more, err := r.decideModules(unpacked)
	if err != nil {
		return err
	}
	if refused = append(refused, more...); len(refused) > 0 {
		return fmt.Errorf("its lock files decide, and those of the archive differ from them:\n\n%s\n\n"+
			"If the archive's entries are right, get lock files that have them from where the configuration comes from. "+
			"Or, if you know these hashes from a source that you trust, unpack again with -accept-hash=HASH for each of them", strings.Join(refused, "\n"))
	}
	if err := r.verifyProviders(unpacked, locks); err != nil {
		return err
	}
	return r.verifyModules(unpacked, moduleLocks)
}

// both reads the target's lock file, before, and the unpacked one, after.
func both[L any](r request, unpacked, name string, read func(path string) (L, problem.List)) (before, after L, err error) {
	before, problems := read(filepath.Join(r.opts.target, name))
	if problems.HasErrors() {
		return before, after, fmt.Errorf("its %s can't be read, and the archive is verified by it", name)
	}
	if after, problems = read(filepath.Join(unpacked, name)); problems.HasErrors() {
		err = fmt.Errorf("the %s in the archive can't be read", name)
	}
	return before, after, err
}

// decideProviders replaces the unpacked lock file by the target's entries with the accepted additions,
// and returns texts about the refused ones.
func (r request) decideProviders(unpacked string) (decided *depsfile.Locks, refused []string, err error) {
	before, after, err := both(r, unpacked, depsfile.FileName, func(path string) (*depsfile.Locks, problem.List) { return depsfile.Load(path, r.Product) })
	if err != nil || before.Empty() {
		return after, nil, err
	}
	decided = before.Clone()
	for _, is := range after.All() {
		was, locked := before.Provider(is.Provider)
		moved := locked && was.Version != is.Version
		added := slices.DeleteFunc(slices.Clone(is.Hashes), func(h getproviders.Hash) bool { return !moved && slices.Contains(was.Hashes, h) })
		switch {
		case !locked:
			decided.Set(is)
		case moved && (len(added) == 0 || !r.opts.accepts(added...)):
			refused = append(refused, refusal(fmt.Sprintf("%s %s, where %s is locked", is.Provider, is.Version, was.Version), added...))
		case !r.opts.accepts(added...):
			refused = append(refused, refusal(fmt.Sprintf("%s %s has more hashes", is.Provider, is.Version), added...))
		case len(added) > 0:
			decided.Extend(is)
		}
	}
	return decided, refused, r.settle(unpacked, depsfile.FileName, decided.Equal(before), decided.Encode(r.Product))
}

// decideModules does the same for the lock file for modules.
func (r request) decideModules(unpacked string) (decided modulelock.Locks, refused []string, err error) {
	before, after, err := both(r, unpacked, modulelock.FileName, func(path string) (modulelock.Locks, problem.List) {
		return modulelock.Load(r.Meta.Context, path)
	})
	if err != nil || len(before) == 0 {
		return after, nil, err
	}
	decided = modulelock.Locks{}
	for _, finding := range before.Check(after.All()) {
		is := finding.Installed
		switch {
		case finding.State == modulelock.New, finding.State == modulelock.Changed && r.opts.accepts(is.Hash):
			decided.Set(is)
			continue
		case finding.State == modulelock.Changed:
			refused = append(refused, refusal(fmt.Sprintf("module %s has another %s", is.Key, strings.Join(finding.Fields, ", ")), is.Hash))
		}
		decided.Set(finding.Locked)
	}
	return decided, refused, r.settle(unpacked, modulelock.FileName, maps.Equal(decided, before), decided.Encode())
}

// settle replaces an unpacked lock file, which may be a symlink to another
// file, by the decided content, or by the bytes of the target's file if nothing changes.
func (r request) settle(unpacked, name string, same bool, decided []byte) error {
	staged := filepath.Join(unpacked, name)
	err := patient.Remove(staged)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the archive has no lock file, and the target's stays
	}
	if err == nil && same {
		decided, err = locktext.ReadText(filepath.Join(r.opts.target, name))
	}
	if err != nil {
		return err
	}
	return locktext.SaveText(staged, decided)
}

// refusal is the text about a refused entry.
func refusal(what string, hashes ...getproviders.Hash) string {
	lines := []string{"  - " + what + ":"}
	for _, h := range hashes {
		lines = append(lines, "      "+string(h))
	}
	if len(hashes) == 0 {
		lines = append(lines, "      without any hash")
	}
	return strings.Join(lines, "\n")
}

// verifyProviders compares each unpacked package with the lock file. It skips
// other versions than the locked one.
func (r request) verifyProviders(unpacked string, locks *depsfile.Locks) error {
	files, err := vendored.Files(unpacked, []string{vendored.PluginsDir})
	if err != nil {
		return err
	}
	last := ""
	for _, f := range files {
		unit, _ := vendored.Unit(f.Name)
		p, v, ok := vendored.PackageOf(unit)
		lock, locked := locks.Provider(p)
		if unit == last || !ok || !locked || lock.Version != v {
			continue
		}
		last = unit
		h1, zh, err := providercache.HashPackage(r.Meta.Context, filepath.Join(unpacked, filepath.FromSlash(unit)))
		if err != nil {
			return fmt.Errorf("the package of %s %s: %w", p, v, err)
		}
		if !slices.Contains(lock.Hashes, h1) && (zh == "" || !slices.Contains(lock.Hashes, zh)) {
			return fmt.Errorf("the archive's package of %s %s, %s, has the hashes %s, and none of them is locked",
				p, v, unit, strings.TrimSpace(string(h1)+" "+string(zh)))
		}
	}
	return nil
}

// verifyModules compares the unpacked modules with their lock file, if
// there is one.
func (r request) verifyModules(unpacked string, locks modulelock.Locks) error {
	if len(locks) == 0 {
		return nil
	}
	dir := filepath.Join(unpacked, filepath.FromSlash(vendored.ModulesDir))
	for _, lock := range locks.All() {
		pkg := filepath.Join(dir, lock.Key)
		if !filepath.IsLocal(lock.Key) {
			continue // no module can have such a key
		}
		if _, err := os.Lstat(pkg); err != nil {
			continue // init fetches the module, and compares it then
		}
		hash, err := modulelock.HashTree(r.Meta.Context, pkg)
		if _, there := os.Lstat(filepath.Join(pkg, ".hg")); err == nil && there == nil {
			err = errors.New("it has a .hg, which its hash doesn't cover")
		}
		if err == nil && hash != lock.Hash {
			err = fmt.Errorf("its hash is %s, and %s is locked", hash, lock.Hash)
		}
		if err != nil {
			return fmt.Errorf("the archive's module %s, from %s: %w", lock.Key, lock.Source, err)
		}
	}
	manifest, err := modules.ReadManifest(nil, dir, r.Product)
	if err != nil {
		return err
	}
	for key, record := range manifest {
		if !r.isAtHome(manifest, key) {
			return fmt.Errorf("the archive's %s has the module %s in %s, which is not its place, so its locked hash can't verify it",
				modules.ManifestName, key, record.Dir)
		}
	}
	return nil
}

// isAtHome reports whether a module is in its package: in its own directory, or, if
// it is called by a local path, in that of the module that calls it. A local module of the root
// module must not be in a directory of the archive.
func (r request) isAtHome(manifest modules.Manifest, key string) bool {
	dir := path.Clean(filepath.ToSlash(manifest[key].Dir))
	for home := key; home != ""; home = home[:max(0, strings.LastIndexByte(home, '.'))] {
		address, err := modules.ParseAddress(manifest[home].Source, r.Product)
		if _, local := address.(modules.Local); err == nil && !local {
			pkg := vendored.ModulesDir + "/" + home
			return dir == pkg || strings.HasPrefix(dir, pkg+"/")
		}
	}
	return !slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return strings.EqualFold(part, ".terraform") || strings.EqualFold(part, "terraform.d")
	})
}
