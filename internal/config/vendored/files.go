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

// Places returns what is vendored in a working directory: slash-separated paths of files, and of
// directories with their content.
func Places() []string { return []string{PluginsDir, ModulesDir, RecordName} }

// Linked returns the first of the vendored directories and their parents that is a symlink, whose
// content isn't in the repository, or "".
func Linked(dir string) string {
	for _, name := range []string{".terraform", ModulesDir, "terraform.d", PluginsDir} {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			return name
		}
	}
	return ""
}

// File is a vendored file or symlink.
type File struct {
	Name string // slash-separated, below the working directory
	Size int64  // in bytes; 0 for a symlink
	Link string // a symlink's unresolved target; "" for a file
	Mode fs.FileMode
}

// Files lists the files in and below some places of a working directory, sorted. It skips stages,
// and places that don't exist.
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

// Colliding returns the files that some systems can't have beside an earlier one, because some part
// of their names differs in case only.
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

// NotOnWindows returns the files with names that Windows refuses or changes. It accepts the port of a registry's host,
// whose users know that it doesn't work there.
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

// Pointers returns the files that are git LFS pointers.
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

// maxPointerBytes is larger than any git LFS pointer.
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

// Outside returns the symlinks that lead out of the vendored directories: their targets may not
// exist on other machines.
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

// isKeyOfModule reports whether a name has the form of a module's directory: names of calls, joined
// by dots.
func isKeyOfModule(name string) bool {
	return !slices.ContainsFunc(strings.Split(name, "."), func(call string) bool { return !hclsyntax.ValidIdentifier(call) })
}

// Unneeded lists the packages in ".terraform/modules" without a key, by the names of their
// directories, sorted. It ignores names that don't look like keys.
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
