package receipt

import (
	"cmp"
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

// RememberListed is RememberArchive for an archive whose source lists only an h1, which
// may count its directories.
func (a Contents) RememberListed(listed, h1 getproviders.Hash) {
	if known, ok := a.KnownH1(listed); !ok || known != h1 {
		a.Set(string(listed), []byte(h1))
	}
}

// Contents records what archives contain: the h1 that belongs to a zh never changes,
// so that lock files can be made without downloading the archive a second time. It
// is safe for many goroutines and processes.
type Contents struct{ *statefile.File }

// KnownH1 returns the h1 of the files in an archive that was seen before.
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

// firstFetchKey stands before a hash where the time of the first fetch is kept.
const firstFetchKey = "first-fetch "

// FirstFetch returns when a package was fetched first, as far as RememberFirstFetch was told; zero: not known.
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

// OpenContents reads what is recorded in the user's state directory.
func OpenContents(state string) Contents {
	return Contents{statefile.Open(Below(state, receiptsDir), "archives", "archives", UsersOwn)}
}

// RecordArchive is TakeRecord for an archive. Links are refused.
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

// ArchiveH1 is the h1 that Terraform and OpenTofu record for the archive.
func (r Receipt) ArchiveH1() getproviders.Hash { return cmp.Or(r.H1Archive, r.H1) }

// Digests are those of the archive.
func (r Receipt) Digests() getproviders.Digests {
	sum, _ := r.ZH.SHA256()
	return getproviders.Digests{SHA256: sum, H1: r.H1, H1Archive: r.ArchiveH1()}
}

// Has reports whether a hash is one of the archive's.
func (r Receipt) Has(h getproviders.Hash) bool { return h == r.ZH || h == r.H1 || h == r.ArchiveH1() }

// OpenArchives is Open for the archives of a mirror. Their receipts are kept apart
// from those for directories, because a mirror doesn't count as a user of packages.
func OpenArchives(state, root string) *Receipts {
	r := newReceipts(OpenState(state, mirrorsDir, root))
	r.StrictTimes = true // tfdeps makes no links to archives
	return r
}

// mirrorsDir is the directory below the user's state directory.
const mirrorsDir = "mirrors"

// Files are the regular files below a path. What can't be read isn't among them.
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

// Inode is a file, whatever names it has.
type Inode struct{ Device, Number uint64 }

// TreeSize adds up the files below dir: the bytes that they hold, and those
// that they take on the disk. seen collects the files that were counted for
// the disk, so that one with several names counts once, in several trees too.
// Clones share blocks where no program can see it; they count in full. What can't
// be read doesn't count.
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
