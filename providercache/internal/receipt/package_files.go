package receipt

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/owner"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// RememberListed is RememberArchive for an archive whose source
// lists only an h1, which may count the archive's directories.
func (a Contents) RememberListed(listed, h1 getproviders.Hash) {
	if known, ok := a.KnownH1(listed); !ok || known != h1 {
		a.Set(string(listed), []byte(h1))
	}
}

// Contents records the h1 for each zh. That never changes, so that lock files can be made without
// downloading an archive again. It is safe for concurrent use by goroutines and processes.
type Contents struct{ *statefile.File }

// KnownH1 returns the recorded h1 for an archive.
func (a Contents) KnownH1(zh getproviders.Hash) (getproviders.Hash, bool) {
	value, ok := a.Get(string(zh))
	h1 := getproviders.Hash(value)
	return h1, ok && h1.Scheme() == hashing.H1
}

// RememberArchive records a pair, in memory until Save.
func (a Contents) RememberArchive(zh, h1 getproviders.Hash) {
	if known, ok := a.KnownH1(zh); ok && known == h1 {
		return
	}
	if zh.Scheme() == hashing.ZH && h1.Scheme() == hashing.H1 {
		a.Set(string(zh), []byte(h1))
	}
}

// RememberArchives records the h1 of archives that were read, by their zh, in a state directory; "" records nothing. If it fails,
// later runs only take longer, so that there is no error.
func RememberArchives(ctx context.Context, stateDir string, h1s map[getproviders.Hash]getproviders.Hash) {
	if stateDir == "" || len(h1s) == 0 {
		return
	}

	archives := OpenContents(stateDir)
	for zh, h1 := range h1s {
		archives.RememberArchive(zh, h1)
	}
	_ = archives.Save(ctx)
}

// firstFetchKey precedes a hash in the key for the time of its first fetch.
const firstFetchKey = "first-fetch "

// FirstFetch returns the time that RememberFirstFetch recorded; zero: none.
func (a Contents) FirstFetch(of getproviders.Hash) time.Time {
	value, _ := a.Get(firstFetchKey + string(of))
	at, err := time.Parse(time.RFC3339, string(value))
	if err != nil {
		return time.Time{}
	}
	return at
}

// RememberFirstFetch records the time of the first fetch, in memory until Save.
func (a Contents) RememberFirstFetch(of getproviders.Hash, at time.Time) {
	a.Set(firstFetchKey+string(of), []byte(at.UTC().Format(time.RFC3339)))
}

// OpenContents reads the records in the user's state directory.
func OpenContents(state string) Contents {
	return Contents{statefile.Open(Below(state, receiptsDir), "archives", "archives", UsersOwn)}
}

// RecordArchive is TakeRecord for an archive. It returns an error for links.
func RecordArchive(path string) (record StatRecord, err error) {
	system, err := fileSystemOf(path)
	if err != nil {
		return record, err
	}
	stat, err := Lstat(path)
	switch {
	case err != nil:
		return record, err
	case !system.Local || !owner.Exclusive(path) || !stat.Mode.IsRegular():
		return record, fmt.Errorf("%s: %w", path, errNotRecordable)
	}
	stat.Name = "."
	return StatRecord{FileSystem: system.ID, Entries: []StatEntry{stat.StatEntry}}, nil
}

// ArchiveH1 returns the h1 that Terraform and OpenTofu record for the archive.
func (r Receipt) ArchiveH1() getproviders.Hash { return cmp.Or(r.H1Archive, r.H1) }

// Digests returns those of the archive.
func (r Receipt) Digests() getproviders.Digests {
	sum, _ := r.ZH.SHA256()
	return getproviders.Digests{SHA256: sum, H1: r.H1, H1Archive: r.ArchiveH1()}
}

// Has reports whether the archive has a hash.
func (r Receipt) Has(h getproviders.Hash) bool { return h == r.ZH || h == r.H1 || h == r.ArchiveH1() }

// OpenArchives is Open for the archives of a mirror. Their receipts are
// separate, because a mirror doesn't count as a user of packages.
func OpenArchives(state, root string) *Receipts {
	r := newReceipts(OpenState(state, mirrorsDir, root))
	r.StrictTimes = true // tfdeps makes no links to archives
	return r
}

// mirrorsDir is the directory for them below the user's state directory.
const mirrorsDir = "mirrors"

// Files returns the regular files below a path, without those in unreadable directories.
func Files(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && !yield(path) {
				return filepath.SkipAll
			}
			return nil
		})
	}
}

// Inode identifies a file, whatever its names.
type Inode struct{ Device, Number uint64 }

// TreeSize adds up the sizes of the files below dir: their content, and what they take on the disk. seen has
// the files that were already counted for the disk, so that hard links count once, even in several trees.
// Clones share blocks invisibly, so they count in full. Files that can't be read don't count.
func TreeSize(dir string, seen map[Inode]bool) (logical, physical int64) {
	for path := range Files(dir) {
		stat, err := Lstat(path)
		if err != nil {
			continue
		}
		logical += stat.Size
		file := Inode{stat.Device, stat.Inode}
		if stat.Inode == 0 || !seen[file] {
			physical += stat.Allocated
		}
		seen[file] = true
	}
	return logical, physical
}
