package providercache

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// spaceCount is what the removal of packages gains.
type spaceCount struct {
	freed, shared int64
	with          []string
}

// measure finds out, before packages are removed, what that gains: a file with
// further names than those in the packages takes as much room afterwards.
func (u *Upkeep) measure(taken []*takenOut) (count spaceCount) {
	names, files := map[inode]int{}, map[inode]fs.FileInfo{}
	sizes := map[inode]int64{}
	with := map[string]bool{}
	for i, t := range taken {
		_ = filepath.WalkDir(t.at(), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			stat, err := lstat(path)
			info, infoErr := os.Lstat(path)
			if err != nil || infoErr != nil {
				return nil
			}
			file := inode{stat.Device, stat.Inode}
			if stat.Inode == 0 {
				file.Number = uint64(i)<<32 + uint64(len(names)) // each for itself
			}
			names[file]++
			files[file], sizes[file] = info, stat.Allocated
			return nil
		})
	}
	elsewhere := false
	for file, info := range files {
		if linkCount(info) > uint64(names[file]) {
			count.shared += sizes[file]
			elsewhere = true
		} else {
			count.freed += sizes[file]
		}
	}
	if elsewhere {
		for _, t := range taken {
			t.sharedWith(with)
		}
	}
	count.with = slices.Sorted(maps.Keys(with))
	return count
}

// sharedWith adds the directories that have files of the package under further
// names.
func (t *takenOut) sharedWith(with map[string]bool) {
	for _, user := range t.Users {
		if with[user] || slices.Contains(t.Linked, user) {
			continue
		}
		theirs := filepath.Join(user, filepath.FromSlash(t.name()))
		_ = filepath.WalkDir(t.at(), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			name, err := filepath.Rel(t.at(), path)
			if err != nil {
				return nil
			}
			ours, oursErr := os.Lstat(path)
			other, otherErr := os.Lstat(filepath.Join(theirs, name))
			if oursErr == nil && otherErr == nil && os.SameFile(ours, other) {
				with[user] = true
				return filepath.SkipAll
			}
			return nil
		})
	}
}
