// Package disk checks whether packages can be written: whether this process may write to a
// directory, and how many bytes are free.
//
//	made, err := disk.Probe(dir)
//	defer scratch.RemoveEmpty(made)
//	room, known := disk.Room(cache, target)
//
// The results may be outdated a moment later. Writing may fail nevertheless, and callers have to
// handle that.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Probe makes a directory if it doesn't exist. Otherwise it checks that it can create something in
// it. made are the directories that it made, outermost first, also if it fails.
func Probe(dir string) (made []string, err error) {
	for range attempts {
		var more []string
		more, err = scratch.MakeDirs(dir)
		made = append(made, more...)
		if err != nil || len(more) > 0 { // this user just made it
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

// Room returns how many bytes this user can write to directories together. They may share a file
// system, and needn't exist yet. known is false if the system can't tell.
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

// Kind returns the type of a directory's file system, as the system names it: "ext4", "nfs4"; "" if
// the system can't tell. The directory needn't exist yet.
func Kind(dir string) string { return kindOf(existing(dir)) }

// existing returns dir, or the nearest existing directory above it.
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

// IsFull reports whether an error means that a disk, or the user's quota, is full.
func IsFull(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull)
}

// RoomError means that packages are larger than the free space, by the sizes that are known before they are read.
type RoomError struct {
	Dirs       []string // where packages go
	Need, Free int64    // bytes: of the archives whose sizes are known; of the file systems of Dirs
}

// Error implements error.
func (e *RoomError) Error() string {
	return fmt.Sprintf("the packages need %s or more, and %s are free in %s: %s are missing", amount(e.Need), amount(e.Free), strings.Join(e.Dirs, " and "), amount(e.Need-e.Free))
}

// amount formats a number of bytes for people, in powers of ten.
func amount(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
}

// Place describes the location of a store, as far as it can be told without writing.
type Place struct {
	// Dir is the store's directory or, if it doesn't exist yet, the nearest existing directory
	// above it. The other fields are about Dir.
	Dir string
	// Exists reports whether the store's directory exists.
	Exists bool

	FileSystem string // its type, as the system names it: "ext4", "nfs4"; "" means unknown
	// KeepsTimes reports whether the file system keeps the times by which receipts notice changes. If
	// it doesn't, every use of a package hashes it.
	KeepsTimes bool
	Free       int64 // bytes that this user can write; negative means unknown

	// Exposed is the outermost directory, of Dir and those above it, in which other users can
	// replace files, so that receipts aren't trusted; "" means none.
	Exposed string
}
