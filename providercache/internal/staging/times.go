package staging

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// unpackedBefore is how far the mtimes of a new package are put back: longer than
// the moment within which two changes may bear one time, on any file system.
const unpackedBefore = 3 * time.Second

// PutTimesBack gives all files and directories of the package an mtime shortly before
// now. Then every change that follows has another one, and a receipt can be made at once.
// Links are left alone, and so is what they lead to.
func (s *Stage) PutTimesBack(now time.Time) {
	var paths []string
	_ = filepath.WalkDir(s.PackagePath(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSymlink == 0 {
			paths = append(paths, path)
		}
		return err
	})
	for _, path := range slices.Backward(paths) { // a directory after what is in it
		_ = os.Chtimes(path, time.Time{}, now.Add(-unpackedBefore))
	}
}
