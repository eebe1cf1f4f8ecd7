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

// IsFull reports whether an error says that a disk, or the user's share of it,
// is full.
func IsFull(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull)
}

// RoomError says that packages are larger than the room that there is for them, as far as their sizes are known before they are
// read.
type RoomError struct {
	Dirs       []string // where packages go
	Need, Free int64    // bytes: of the archives whose sizes are known; of the file systems of Dirs
}

// Error implements error.
func (e *RoomError) Error() string {
	return fmt.Sprintf("the packages need %s or more, and %s are free in %s: %s are missing", amount(e.Need), amount(e.Free), strings.Join(e.Dirs, " and "), amount(e.Need-e.Free))
}

// amount writes a number of bytes for people, in powers of ten.
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

// Place is what can be told of where a store is, without writing anything there.
type Place struct {
	// Dir is the store's directory or, where that doesn't exist yet, the first one above it that
	// does. The rest is about it.
	Dir string
	// Exists says that the store's directory is there.
	Exists bool

	FileSystem string // its kind, as the system names it: "ext4", "nfs4"; "": not known
	// KeepsTimes says that the file system keeps the times by which receipts notice changes. Where it
	// doesn't, every use of a package hashes it.
	KeepsTimes bool
	Free       int64 // bytes that this user can write; less than 0: not known

	// Exposed is the outermost directory, Dir itself and those above it, in which other users can
	// exchange what is there, so that no receipt counts; "": there is none.
	Exposed string
}
