package fetch

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Swept is what SweepStore has removed.
type Swept struct {
	Entries int   // archives and git repositories
	Bytes   int64 // in their files
}

// goneSuffix ends the name of what is about to be removed; the run that finds
// it again removes it.
const goneSuffix = ".gone"

// SweepStore removes from a Fetcher's store the archives and git repositories to
// which nothing was added since a time, and what is remembered of archives. Each
// is renamed before it is removed, so nobody finds half of one; who is reading
// from one at that moment may have to fetch it again. With dryRun it only tells.
// A store that isn't there has nothing.
func SweepStore(dir string, before time.Time, dryRun bool) (swept Swept) {
	for _, kind := range []string{archivesDir, answersDir, pinsDir, "git"} {
		entries, _ := os.ReadDir(filepath.Join(dir, kind))
		for _, entry := range entries {
			path := filepath.Join(dir, kind, entry.Name())
			isEntry := kind == archivesDir || kind == "git" && entry.IsDir()
			if strings.HasSuffix(path, ".lock") || !lastAddition(path).Before(before) {
				continue
			}
			if isEntry {
				swept.Entries++
				swept.Bytes += sizeOf(path)
			}
			if !dryRun {
				removeEntry(path)
			}
		}
	}
	return swept
}

func removeEntry(path string) {
	gone := path
	if !strings.HasSuffix(path, goneSuffix) {
		gone += goneSuffix
		if os.Rename(path, gone) != nil {
			return
		}
	}
	_ = os.RemoveAll(gone)
}

// lastAddition is when something was added to a store's entry last: a fetch sets
// the time of a repository's directories of packs and refs.
func lastAddition(path string) (latest time.Time) {
	for _, name := range []string{"", "FETCH_HEAD", "refs", filepath.Join("refs", "commits"), filepath.Join("objects", "pack")} {
		if info, err := os.Lstat(filepath.Join(path, name)); err == nil && info.ModTime().After(latest) {
			latest = info.ModTime()
		}
	}
	return latest
}

func sizeOf(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
