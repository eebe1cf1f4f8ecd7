package store

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// spaceCount is what the removal of packages gains.
type spaceCount struct {
	freed, shared int64
	with          []string
}

// measure finds out, before packages are removed, what that gains: a file with
// further names than those in the packages takes as much room afterwards.
func (u *Maintenance) measure(taken []*Detached) (count spaceCount) {
	names, files := map[receipt.Inode]int{}, map[receipt.Inode]fs.FileInfo{}
	sizes := map[receipt.Inode]int64{}
	with := map[string]bool{}
	for i, t := range taken {
		_ = filepath.WalkDir(t.at(), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			stat, err := receipt.Lstat(path)
			info, infoErr := os.Lstat(path)
			if err != nil || infoErr != nil {
				return nil
			}
			file := receipt.Inode{Device: stat.Device, Number: stat.Inode}
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
func (t *Detached) sharedWith(with map[string]bool) {
	for _, user := range t.Users {
		if with[user] || slices.Contains(t.Linked, user) {
			continue
		}
		theirs := filepath.Join(user, filepath.FromSlash(t.Name()))
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
