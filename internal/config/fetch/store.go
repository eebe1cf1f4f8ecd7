package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// store is a directory that keeps what was fetched for later runs. The zero value
// keeps nothing. Many processes may use one at a time: files come into being by a
// rename, and archives are named by their content, which is compared before they
// are used. Nothing here is an error: what can't be kept is fetched again.
type store struct{ dir string }

// The directories of a store.
const (
	archivesDir = "archives" // by SHA-256
	answersDir  = "answers"  // what a URL had, by the URL
	pinsDir     = "pins"     // what never changes, by pin and address
)

func openStore(dir string) store {
	if dir == "" {
		return store{}
	}
	for _, name := range []string{archivesDir, answersDir, pinsDir} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return store{}
		}
	}
	probe, err := os.CreateTemp(filepath.Join(dir, pinsDir), partialPrefix)
	if err != nil {
		return store{}
	}
	probe.Close()
	_ = patient.Remove(probe.Name())
	return store{dir}
}

// at is a place in the store; "" without one.
func (s store) at(name ...string) string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(append([]string{s.dir}, name...)...)
}

// archive returns the file with a digest, if it is there and has it.
func (s store) archive(ctx context.Context, digest string) (file string, ok bool) {
	if raw, err := hex.DecodeString(digest); s.dir == "" || err != nil || len(raw) != sha256.Size {
		return "", false
	}
	file = s.at(archivesDir, digest)
	got, err := hashFile(ctx, file, sha256.New())
	if err != nil {
		return "", false
	}
	if got != digest {
		_ = patient.Remove(file)
		return "", false
	}
	return file, true
}

// partialPrefix begins the names of files that are being written.
const partialPrefix = ".partial-"

// newFile returns a file for an archive whose digest isn't known yet. Without a
// store it is in another directory.
func (s store) newFile(other string) (*os.File, error) {
	if s.dir != "" {
		if f, err := os.CreateTemp(s.at(archivesDir), partialPrefix); err == nil {
			s.sweep(f)
			return f, nil
		}
	}
	return os.CreateTemp(other, partialPrefix)
}

// sweep removes what runs left that were killed a day ago or earlier. The
// time is that of the file system.
func (s store) sweep(youngest *os.File) {
	entries, err := os.ReadDir(s.at(archivesDir))
	now, statErr := youngest.Stat()
	if err != nil || statErr != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), partialPrefix) && now.ModTime().Sub(info.ModTime()) > 24*time.Hour {
			_ = patient.Remove(s.at(archivesDir, entry.Name()))
		}
	}
}

// keep gives a file of newFile the name that its digest is, and returns where it
// is then.
func (s store) keep(ctx context.Context, file, digest string) string {
	if s.dir == "" || filepath.Dir(file) != s.at(archivesDir) {
		return file
	}
	final := s.at(archivesDir, digest)
	if _, ok := s.archive(ctx, digest); ok { // others may open it, and Windows refuses that while it is replaced
		_ = patient.Remove(file)
		return final
	}
	if patient.Rename(file, final) != nil {
		return file
	}
	return final
}

// load reads a record. What can't be read isn't there.
func (s store) load(dir, key string, into any) bool {
	return s.dir != "" && wholefile.Recall(s.at(dir, nameOf(key)), into)
}

// save writes a record, for the user alone.
func (s store) save(dir, key string, record any) {
	if s.dir != "" {
		wholefile.Remember(s.at(dir, nameOf(key)), record)
	}
}

// nameOf makes a name of any text, so that none of it can be read in the store.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// pinned is what is remembered of a package that never changes.
type pinned struct {
	SHA256   string `json:"sha256,omitempty"` // of the archive
	Commit   string `json:"commit,omitempty"`
	Location string `json:"location,omitempty"` // the address to which servers pointed; "": no server had to be asked
	Subdir   string `json:"subdir,omitempty"`   // of their answers
}

func pinKey(req modules.FetchRequest) string { return req.Pin + "\n" + req.Package }

// recall returns where a package is that was fetched for the same pin earlier, if
// that is still known and its archive is in the store.
func (s store) recall(ctx context.Context, req modules.FetchRequest) (found location, ok bool) {
	var record pinned
	if req.Pin == "" || !s.load(pinsDir, pinKey(req), &record) {
		return found, false
	}
	at, hopped := req.Package, false
	if record.Location != "" {
		at, hopped = record.Location, true
	}
	from, err := parseSource(at, hopped)
	if err != nil || from.isPage() {
		return found, false
	}
	switch {
	case from.kind == "git" && from.archive == "":
		from.known = record.Commit
	case from.kind == "http":
		if _, ok := s.archive(ctx, record.SHA256); !ok {
			return found, false
		}
		from.known = record.SHA256
	}
	return location{packageSource: from, address: at, subdir: record.Subdir, hopped: hopped}, from.known != ""
}

// keepPin remembers where a package was and what it had.
func (s store) keepPin(req modules.FetchRequest, at location, sha256, commit string) {
	record := pinned{SHA256: sha256, Commit: commit, Subdir: at.subdir}
	found := sha256 + commit // one of them
	if req.Pin == "" || found == "" || found == at.known {
		return
	}
	if at.hopped {
		if !mayBeKept(at.address) {
			return
		}
		record.Location = at.address
	}
	s.save(pinsDir, pinKey(req), record)
}

// mayBeKept reports whether an address holds no secret, so that it may be written
// to disk.
func mayBeKept(pkg string) bool {
	_, text := modules.SplitForced(pkg)
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if _, hasPassword := u.User.Password(); hasPassword || u.Scheme != "ssh" && u.User != nil {
		return false
	}
	for name := range u.Query() {
		if !slices.Contains(harmless, name) {
			return false
		}
	}
	return true
}

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
// is renamed before it is removed, so no process finds half of one; who is reading
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
		if patient.Rename(path, gone) != nil {
			return
		}
	}
	_ = patient.RemoveAll(gone)
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
