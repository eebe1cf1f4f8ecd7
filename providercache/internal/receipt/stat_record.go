package receipt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/owner"
)

// StatRecord is the stat of all files of a package. A change of a file's content, mode or names
// sets its ctime to the current time, which only root can turn back; a directory's mtime shows that
// an entry was added, removed or renamed. So if a record equals an earlier one, all of whose times
// were past by then, the bytes are the same, unless other users can write to them: see own.go.
//
// It has no device number, because two overlay mounts of one layer
// show the same file with different ones.
type StatRecord struct {
	FileSystem string      `json:"fs,omitempty"` // the part of its identity that survives a remount
	Entries    []StatEntry `json:"entries"`      // "." first, the others sorted by name

	// ReadFrom is when the record was taken, if other users could change the
	// package between that and the reading of its bytes; else zero.
	ReadFrom time.Time
}

// files returns the number of files, without directories.
func (r StatRecord) files() (n int) {
	for _, e := range r.Entries {
		if !e.Mode.IsDir() {
			n++
		}
	}
	return n
}

// StatEntry is a file or directory of a package.
type StatEntry struct {
	Name     string      `json:"n"` // slash-separated, from the package's directory
	Mode     fs.FileMode `json:"m"` // type and permissions
	Owner    uint32      `json:"o,omitempty"`
	Inode    uint64      `json:"i,omitempty"`
	Size     int64       `json:"s,omitempty"` // of files
	Modified int64       `json:"mt"`          // mtime, in nanoseconds since 1970
	Changed  int64       `json:"ct,omitempty"`
}

// PathStat is the lstat of one path.
type PathStat struct {
	StatEntry        // without a name
	Device    uint64 // valid in this process only
	Allocated int64  // bytes on disk
}

// fileSystem is what matters for trusting a file system's times.
type fileSystem struct {
	ID      string
	Local   bool          // changes are made through this kernel, which sets the times
	Granule time.Duration // two changes within it may have the same time
}

const (
	fineGranule   = 20 * time.Millisecond // a kernel's tick is 10 ms at most
	coarseGranule = 2 * time.Second       // of unknown file systems
)

// maxRecorded bounds the entries of a record. A larger package is
// hashed each time; real ones have three files.
const maxRecorded = 4096

var errNotRecordable = errors.New("the file system can't show whether this package has changed")

// TakeRecord stats every file and directory of a package. The error matches
// errNotRecordable if a record would prove nothing: there is a link, or the
// package itself is one, or other machines write to the file system.
func TakeRecord(dir string) (record StatRecord, err error) {
	system, err := fileSystemOf(dir)
	switch {
	case err != nil:
		return record, err
	case !system.Local || !owner.Exclusive(dir):
		return record, fmt.Errorf("%s: %w", dir, errNotRecordable)
	}
	entries, err := StatTree(dir)
	return StatRecord{FileSystem: system.ID, Entries: entries}, err
}

// StatTree returns the stats of all entries of a package.
func StatTree(dir string) ([]StatEntry, error) {
	stats, err := statTree(dir)
	entries := make([]StatEntry, len(stats))
	for i, stat := range stats {
		entries[i] = stat.StatEntry
	}
	return entries, err
}

func statTree(dir string) ([]PathStat, error) {
	root, err := Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !root.Mode.IsDir() {
		return nil, fmt.Errorf("%s: %w", dir, errNotRecordable)
	}
	root.Name = "."
	entries, err := statBelow(dir, ".", []PathStat{root})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries[1:], func(a, b PathStat) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

func statBelow(dir, below string, entries []PathStat) ([]PathStat, error) {
	list, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(below)))
	if err != nil {
		return nil, err
	}
	for _, item := range list {
		name := path.Join(below, item.Name())
		stat, err := statIn(dir, name)
		if err != nil {
			return nil, err
		}
		if entries = append(entries, stat); len(entries) > maxRecorded {
			return nil, fmt.Errorf("%s: %w", dir, errNotRecordable)
		}
		switch {
		case stat.Mode.IsRegular():
		case stat.Mode.IsDir():
			if entries, err = statBelow(dir, name, entries); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), errNotRecordable)
		}
	}
	return entries, nil
}

// statIn returns the stat of one entry of a package.
func statIn(dir, name string) (PathStat, error) {
	stat, err := Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	stat.Name = name
	return stat, err
}

// check reports whether a package still matches its record, with one lstat for each
// entry: directories needn't be listed, because their mtimes show changes. With
// filesMoved, files may have other ctimes. seen has the stat of each entry. The result
// is proof only if the file system is the same and the record is settled.
func (r StatRecord) check(dir string, filesMoved bool) (seen []PathStat, ok bool) {
	seen = make([]PathStat, 0, len(r.Entries))
	for _, entry := range r.Entries {
		stat, err := statIn(dir, entry.Name)
		if err != nil {
			return nil, false
		}
		if stat.StatEntry != entry && !(filesMoved && stat.isMoved(entry)) {
			return nil, false
		}
		seen = append(seen, stat)
	}
	return seen, len(r.Entries) > 0
}

// equal reports whether two records are the same.
func (r StatRecord) equal(other StatRecord) bool {
	return r.FileSystem == other.FileSystem && slices.Equal(r.Entries, other.Entries)
}

// settled reports whether all times in the record were past when it was taken,
// by more than the granule; it checks ctimes only if they count. A change
// within the granule could have the same time as the recorded one. A file
// system with whole seconds may have the magic number of a finer one.
func (r StatRecord) settled(taken time.Time, granule time.Duration, ctimes bool) bool {
	for _, entry := range r.Entries {
		needed, newest := granule, entry.Modified
		if entry.Changed%int64(time.Second) == 0 {
			needed = max(granule, coarseGranule)
		}
		if ctimes {
			newest = max(newest, entry.Changed)
		}
		if taken.Sub(time.Unix(0, newest)) <= needed {
			return false
		}
	}
	return true
}

// withoutChanged returns the record without the ctimes that tfdeps itself
// sets: a rename sets that of a directory, a hard link that of a file.
func (r StatRecord) withoutChanged(files bool) StatRecord {
	r.Entries = slices.Clone(r.Entries)
	for i := range r.Entries {
		if i == 0 || files && r.Entries[i].Mode.IsRegular() {
			r.Entries[i].Changed = 0
		}
	}
	return r
}

// SameFiles reports whether two packages consist of the same
// files, by hard links. Their directories differ.
func (r StatRecord) SameFiles(other StatRecord) bool {
	return r.FileSystem == other.FileSystem && slices.EqualFunc(r.Entries, other.Entries, func(a, b StatEntry) bool {
		return a == b || a.Name == b.Name && a.Mode.IsDir() && b.Mode.IsDir()
	})
}
