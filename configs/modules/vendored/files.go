package vendored

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Places are what is vendored in a working directory: files, and directories with
// all that is in them; slash-separated.
func Places() []string { return []string{PluginsDir, ModulesDir, RecordName} }

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
