package receipt

import (
	"io/fs"
	"path/filepath"
)

// Inode is a file, whatever names it has.
type Inode struct{ Device, Number uint64 }

// TreeSize adds up the files below dir: the bytes that they hold, and those
// that they take on the disk. seen collects the files that were counted for
// the disk, so that one with several names counts once, in several trees too.
// Clones share blocks where no program can see it; they count in full. What can't
// be read doesn't count.
func TreeSize(dir string, seen map[Inode]bool) (logical, physical int64) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		stat, err := Lstat(path)
		if err != nil {
			return nil
		}
		logical += stat.Size
		file := Inode{stat.Device, stat.Inode}
		if stat.Inode == 0 || !seen[file] {
			physical += stat.Allocated
		}
		seen[file] = true
		return nil
	})
	return logical, physical
}
