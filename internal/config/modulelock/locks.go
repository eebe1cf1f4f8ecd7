package modulelock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// Lock is a module call in the lock file, or the module that is installed for it.
type Lock struct {
	Key     string            // names of calls from the root, joined by dots
	Source  string            // normalised, as in modules.json; Locks removes secrets from it
	Version string            // normalised; "" if the module isn't from a registry
	Commit  string            // full ID in a git repository; "" for others, and if unknown
	Hash    getproviders.Hash // of the package: see HashTree
}

// plain returns the lock as it is written to the file.
func (l Lock) plain() Lock {
	l.Source = plainSource(l.Source)
	return l
}

// Locks is the content of a lock file: its entries by key.
type Locks map[string]Lock

// Set adds or replaces an entry.
func (l Locks) Set(lock Lock) { l[lock.Key] = lock.plain() }

// All returns the entries in the order of the file.
func (l Locks) All() []Lock {
	all := make([]Lock, 0, len(l))
	for _, key := range slices.Sorted(maps.Keys(l)) {
		all = append(all, l[key])
	}
	return all
}

// plainSource removes possible secrets from a source. It works on the text, because a recorded
// source may not parse as a URL.
func plainSource(source string) string {
	source, _, _ = strings.Cut(source, "#")
	location, query, _ := strings.Cut(source, "?")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(param string) bool {
		name, value, _ := strings.Cut(param, "=")
		return !slices.Contains(modules.Harmless, name) || name == "checksum" && strings.ContainsAny(value, "/%") // a URL may have a login
	})
	location = withoutUser(location)
	if len(kept) > 0 {
		location += "?" + strings.Join(kept, "&")
	}
	return location
}

// withoutUser removes the user and password of a URL. It keeps the SSH user, which is part of the
// address and not secret.
func withoutUser(location string) string {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return location
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		slash = len(rest)
	}
	authority, path := rest[:slash], rest[slash:]
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return location
	}
	user, _, _ := strings.Cut(authority[:at], ":")
	host := authority[at+1:]
	if scheme == "ssh" || strings.HasSuffix(scheme, "::ssh") {
		host = user + "@" + host
	}
	return scheme + "://" + host + path
}

// State compares an installed module with the lock file.
type State int

const (
	Same    State = iota // as locked
	New                  // not locked
	Changed              // differs from the lock
	Gone                 // locked, but no longer installed
)

// Finding is the result of Check for one key.
type Finding struct {
	Key       string
	State     State
	Fields    []string // with Changed: which of "source", "version", "commit" and "hash", in this order
	Locked    Lock     // zero with New
	Installed Lock     // zero with Gone
}

// Check compares the locks with the installed modules of all calls that aren't local, each key
// once. It returns a finding for each key on either side, sorted by key.
//
// A commit that is unknown on one side is no change: an earlier run may have fetched the module.
// The hash decides.
func (l Locks) Check(installed []Lock) []Finding {
	var findings []Finding
	seen := make(map[string]bool, len(installed))
	for _, is := range installed {
		is = is.plain()
		seen[is.Key] = true
		finding := Finding{Key: is.Key, Installed: is, State: New}
		if was, ok := l[is.Key]; ok {
			finding.Locked, finding.State = was, Same
			if finding.Fields = changes(was, is); len(finding.Fields) > 0 {
				finding.State = Changed
			}
		}
		findings = append(findings, finding)
	}
	for _, was := range l.All() {
		if !seen[was.Key] {
			findings = append(findings, Finding{Key: was.Key, State: Gone, Locked: was})
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Key, b.Key) })
	return findings
}

// changes names the fields in which two locks differ.
func changes(was, is Lock) (fields []string) {
	for _, field := range []struct {
		name    string
		changed bool
	}{
		{"source", was.Source != is.Source},
		{"version", was.Version != is.Version},
		{"commit", was.Commit != is.Commit && was.Commit != "" && is.Commit != ""},
		{"hash", was.Hash != is.Hash},
	} {
		if field.changed {
			fields = append(fields, field.name)
		}
	}
	return fields
}

// Updated returns the locks of the installed modules. It keeps an unchanged entry whose commit the
// installed module doesn't have.
func (l Locks) Updated(installed []Lock) Locks {
	updated := Locks{}
	for _, finding := range l.Check(installed) {
		switch {
		case finding.State == Gone:
		case finding.State == Same && finding.Installed.Commit == "":
			updated.Set(finding.Locked)
		default:
			updated.Set(finding.Installed)
		}
	}
	return updated
}

// HashTree returns the hash of an installed package's tree, as the package's documentation defines
// it. dir may be a symlink. Entries other than files, directories and symlinks are errors, and so
// is a name with a newline. When ctx ends, the error is its cause.
func HashTree(ctx context.Context, dir string) (getproviders.Hash, error) {
	h, err := hashTree(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("hashing the module package in %s: %w", dir, err)
	}
	return h, nil
}

func hashTree(ctx context.Context, dir string) (getproviders.Hash, error) {
	root, err := filepath.EvalSymlinks(dir) // WalkDir doesn't follow a symlink
	if err != nil {
		return "", err
	}
	var files []treehash.File
	buffer := make([]byte, chunks.Size)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isBookkeeping(root, path, entry):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		digest, err := digestEntry(ctx, path, filepath.ToSlash(name), entry, buffer)
		files = append(files, digest)
		return err
	})
	if err != nil {
		return "", err
	}
	return treehash.H1(files)
}

// isBookkeeping reports whether an entry is version control's own data, which differs between
// checkouts of the same tree.
func isBookkeeping(root, path string, entry fs.DirEntry) bool {
	isTop := filepath.Dir(path) == root
	switch entry.Name() {
	case ".git":
		return path != root && (isTop || entry.Type().IsRegular())
	case ".hg":
		return path != root && isTop
	}
	return false
}

// digestEntry returns the hash list's line for a file or a symlink.
func digestEntry(ctx context.Context, path, name string, entry fs.DirEntry, buffer []byte) (treehash.File, error) {
	switch entry.Type() {
	case 0:
		return treehash.Digest(ctx, path, name, buffer, nil)
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		sum := sha256.Sum256([]byte(filepath.ToSlash(target)))
		return treehash.File{Name: "/" + name, SHA256: sum}, err
	default:
		return treehash.File{}, fmt.Errorf("%s is neither a file nor a symlink", path)
	}
}
