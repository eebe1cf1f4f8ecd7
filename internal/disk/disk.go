// Package disk tells beforehand whether packages can be written: may this process
// write to a directory, and is there room.
//
//	made, err := disk.Probe(dir)
//	defer scratch.RemoveEmpty(made)
//	room, known := disk.Room(cache, target)
//
// What it says is true of one moment. Writing may fail nevertheless, and that has to
// be handled where it happens.
package disk

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Probe makes a directory if it doesn't exist. If it does, Probe finds out whether something can
// be made in it. made are the directories that it made, outermost first, also if it fails.
func Probe(dir string) (made []string, err error) {
	for range attempts {
		var more []string
		more, err = scratch.MakeDirs(dir)
		made = append(made, more...)
		if err != nil || len(more) > 0 { // it was just made, by this user
			return made, err
		}
		var probe *scratch.Dir
		if probe, err = scratch.Make(dir); err == nil {
			probe.Remove()
		}
		if !errors.Is(err, fs.ErrNotExist) { // else another process removed dir, because it was empty
			break
		}
	}
	return made, err
}

const attempts = 4

// Room is how many bytes this user can write to directories together, which may
// be on one file system and needn't exist yet. known is false where a system doesn't tell.
func Room(dirs ...string) (bytes int64, known bool) {
	seen := map[uint64]bool{}
	for _, dir := range dirs {
		free, system, ok := freeOn(existing(dir))
		if !ok {
			return 0, false
		}
		if !seen[system] && bytes <= math.MaxInt64-free {
			bytes += free
		}
		seen[system] = true
	}
	return bytes, true
}

// Kind is the kind of the file system that a directory is on, as the system names it: "ext4",
// "nfs4"; "" where a system doesn't tell. The directory needn't exist yet.
func Kind(dir string) string { return kindOf(existing(dir)) }

// existing is a directory, or the first one above it that there is.
func existing(dir string) string {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
