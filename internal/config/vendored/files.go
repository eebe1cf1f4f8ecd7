package vendored

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// Places are what is vendored in a working directory: files, and directories with
// all that is in them; slash-separated.
func Places() []string { return []string{PluginsDir, ModulesDir, RecordName} }

// Linked returns the first directory on the way to one of the places that is a
// link: what is there isn't in the repository. "": none is.
func Linked(dir string) string {
	for _, name := range []string{".terraform", ModulesDir, "terraform.d", PluginsDir} {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			return name
		}
	}
	return ""
}

// File is something that is vendored.
type File struct {
	Name string // slash-separated, below the working directory
	Size int64  // in bytes; of a symlink, 0
	Link string // where a symlink leads to, as it is; "": it is a file
	Mode fs.FileMode
}

// Files lists what there is in and below some places of a working directory,
// sorted. What is being made is left out, and so are places that aren't there.
func Files(dir string, places []string) (files []File, err error) {
	for _, place := range places {
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(place)), func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case strings.HasPrefix(entry.Name(), ".tfdeps-") && entry.IsDir():
				return fs.SkipDir
			case entry.IsDir():
				return nil
			}
			file, err := describe(dir, at, entry)
			files = append(files, file)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// Colliding returns those files whose names differ from those before them in
// nothing but case, in some part: some systems have one of both.
func Colliding(files []File) (colliding []File) {
	spelt := map[string]string{}
	for _, f := range files {
		for name := f.Name; name != "."; name = path.Dir(name) {
			folded := strings.ToLower(name)
			if was, ok := spelt[folded]; ok && was != name {
				colliding = append(colliding, f)
				break
			}
			spelt[folded] = name
		}
	}
	return colliding
}

// NotOnWindows returns those files that Windows can't hold, or holds under another name, but for the port of a registry's
// host: who uses one knows that it can't be used there.
func NotOnWindows(files []File) (refused []File) {
	for _, f := range files {
		name := strings.TrimPrefix(f.Name, PluginsDir+"/")
		if name != f.Name {
			_, name, _ = strings.Cut(name, "/")
		}
		if layout.WindowsRefuses(name) {
			refused = append(refused, f)
		}
	}
	return refused
}

// Pointers returns those files that git LFS has left in the place of what it keeps.
func Pointers(dir string, files []File) (pointers []File) {
	for _, f := range files {
		if f.Link != "" || f.Size > maxPointerBytes {
			continue
		}
		content, err := wholefile.Read(filepath.Join(dir, filepath.FromSlash(f.Name)), maxPointerBytes)
		if err == nil && strings.HasPrefix(string(content), "version https://git-lfs.github.com/spec/") {
			pointers = append(pointers, f)
		}
	}
	return pointers
}

// maxPointerBytes is more than a pointer of git LFS may have.
const maxPointerBytes = 1024

func describe(dir, at string, entry fs.DirEntry) (File, error) {
	name, err := filepath.Rel(dir, at)
	if err != nil {
		return File{}, err
	}
	file := File{Name: filepath.ToSlash(name)}
	if entry.Type()&fs.ModeSymlink != 0 {
		file.Link, err = os.Readlink(at)
		file.Link = filepath.ToSlash(file.Link)
		return file, err
	}
	info, err := entry.Info()
	if err != nil {
		return File{}, err
	}
	file.Size, file.Mode = info.Size(), info.Mode()
	return file, nil
}

// Outside returns those files that are links which lead out of the directories
// that are vendored with them: a clone on another machine may not have what they
// lead to.
func Outside(files []File) (outside []File) {
	for _, f := range files {
		if f.Link == "" {
			continue
		}
		to := path.Join(path.Dir(f.Name), f.Link)
		if path.IsAbs(f.Link) || filepath.VolumeName(f.Link) != "" || !strings.HasPrefix(to, ModulesDir+"/") && !strings.HasPrefix(to, PluginsDir+"/") {
			outside = append(outside, f)
		}
	}
	return outside
}

// isKeyOfModule reports whether a name is what that of a module's directory looks like: names of
// calls, joined by dots.
func isKeyOfModule(name string) bool {
	return !slices.ContainsFunc(strings.Split(name, "."), func(call string) bool { return !hclsyntax.ValidIdentifier(call) })
}

// Unneeded lists the packages of modules in ".terraform/modules" that belong to
// none of the keys, by the names of their directories, sorted. What doesn't look
// like a package of a module isn't one.
func Unneeded(dir string, keys []string) (names []string, err error) {
	entries, err := os.ReadDir(modulesIn(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		name := entry.Name()
		isPackage := entry.IsDir() || entry.Type()&fs.ModeSymlink != 0
		if isPackage && isKeyOfModule(name) && !slices.Contains(keys, name) {
			names = append(names, name)
		}
	}
	return names, err
}

// RemoveModules removes packages of modules.
func RemoveModules(dir string, names []string) error {
	var errs []error
	for _, name := range names {
		path := filepath.Join(modulesIn(dir), name)
		err := scratch.CheckLinks(dir, path)
		if err == nil {
			err = patient.RemoveAll(path)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func modulesIn(dir string) string { return filepath.Join(dir, filepath.FromSlash(ModulesDir)) }
