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

// store is a directory that keeps fetched packages for later runs. The zero value keeps nothing.
// Many processes may use it: files are created by a rename, and archives are named by their digest,
// which is verified before use. Errors are ignored: what can't be kept is fetched again.
type store struct{ dir string }

// The directories of a store.
const (
	archivesDir = "archives" // by SHA-256
	answersDir  = "answers"  // what a URL returned, by URL
	pinsDir     = "pins"     // immutable packages, by pin and address
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

// at returns a path in the store, or "" without a store.
func (s store) at(name ...string) string {
	if s.dir == "" {
		return ""
	}
	return filepath.Join(append([]string{s.dir}, name...)...)
}

// archive returns the file with a digest, if it exists and has this digest.
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

// newFile creates a file for an archive whose digest is unknown yet. Without a store it is in the
// directory other.
func (s store) newFile(other string) (*os.File, error) {
	if s.dir != "" {
		if f, err := os.CreateTemp(s.at(archivesDir), partialPrefix); err == nil {
			s.sweep(f)
			return f, nil
		}
	}
	return os.CreateTemp(other, partialPrefix)
}

// sweep removes files of runs that were killed at least a day ago, by the clock of the file system.
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

// keep renames a file of newFile to its digest, and returns its path.
func (s store) keep(ctx context.Context, file, digest string) string {
	if s.dir == "" || filepath.Dir(file) != s.at(archivesDir) {
		return file
	}
	final := s.at(archivesDir, digest)
	if _, ok := s.archive(ctx, digest); ok { // other processes may have it open, and Windows refuses to replace it then
		_ = patient.Remove(file)
		return final
	}
	if patient.Rename(file, final) != nil {
		return file
	}
	return final
}

// load reads a record. It returns false if the record can't be read.
func (s store) load(dir, key string, into any) bool {
	return s.dir != "" && wholefile.Recall(s.at(dir, nameOf(key)), into)
}

// save writes a record, readable for the user only.
func (s store) save(dir, key string, record any) {
	if s.dir != "" {
		wholefile.Remember(s.at(dir, nameOf(key)), record)
	}
}

// nameOf hashes any text to a file name, so that the store doesn't reveal it.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// pinned is the record of an immutable package.
type pinned struct {
	SHA256   string `json:"sha256,omitempty"` // of the archive
	Commit   string `json:"commit,omitempty"`
	Location string `json:"location,omitempty"` // the address in a server's answer; "" if no server was asked
	Subdir   string `json:"subdir,omitempty"`   // from servers' answers
}

func pinKey(req modules.FetchRequest) string { return req.Pin + "\n" + req.Package }

// recall returns the location of a package that was fetched for the same pin earlier, if the store
// still has it.
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

// keepPin records the location and content of a package.
func (s store) keepPin(req modules.FetchRequest, at location, sha256, commit string) {
	record := pinned{SHA256: sha256, Commit: commit, Subdir: at.subdir}
	found := sha256 + commit // one of them is ""
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

// mayBeKept reports whether an address has no secrets, so that it may be written to disk.
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
		if name == "checksum" || !slices.Contains(modules.Harmless, name) { // a checksum may be a URL with a login
			return false
		}
	}
	return true
}

// Swept is what SweepStore removed.
type Swept struct {
	Entries int   // archives and git repositories
	Bytes   int64 // in their files
}

// goneSuffix ends the name of an entry that is being removed. A later run removes it, if this one
// is killed.
const goneSuffix = ".gone"

// SweepStore removes from a Fetcher's store the archives and git repositories to which nothing was
// added since a time, and the records about archives. It renames each before removing it, so that
// no process finds a part of one; a process that is reading one may have to fetch it again. With
// dryRun it only counts. A store that doesn't exist is empty.
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

// lastAddition returns when an entry of the store was last added to: a fetch changes the times of a
// repository's directories of packs and refs.
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
