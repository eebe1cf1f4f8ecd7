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
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// Lock is what the lock file records of one module call, or what is installed
// for it.
type Lock struct {
	Key     string            // names of calls from the root, joined by dots
	Source  string            // normalised, as modules.json has it; secrets are taken out where a Lock is used
	Version string            // normalised; "" if the module isn't a registry's
	Commit  string            // of a git repository, in full; "" for others, and if it isn't known
	Hash    getproviders.Hash // of the package: see HashTree
}

// plain is the lock as it stands in the file.
func (l Lock) plain() Lock {
	l.Source = plainSource(l.Source)
	return l
}

// Locks is the content of a lock file: its entries, by their keys.
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

// harmless are the query parameters that say what is fetched, and no secret.
var harmless = []string{"ref", "depth", "archive", "checksum"}

// plainSource takes out of a source what may be a secret. It works on the text,
// because what is recorded needn't be a URL that can be parsed.
func plainSource(source string) string {
	source, _, _ = strings.Cut(source, "#")
	location, query, _ := strings.Cut(source, "?")
	kept := slices.DeleteFunc(strings.Split(query, "&"), func(param string) bool {
		name, _, _ := strings.Cut(param, "=")
		return !slices.Contains(harmless, name)
	})
	location = withoutUser(location)
	if len(kept) > 0 {
		location += "?" + strings.Join(kept, "&")
	}
	return location
}

// withoutUser takes out the user and password of a URL. The user that git logs
// in with by SSH is no secret, and belongs to the address.
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

// State is how an installed module stands to the lock file.
type State int

const (
	Same    State = iota // what is locked
	New                  // not locked
	Changed              // locked otherwise
	Gone                 // locked, and not installed any more
)

// Finding is what Check says of one key.
type Finding struct {
	Key       string
	State     State
	Fields    []string // with Changed: which of "source", "version", "commit" and "hash", in this order
	Locked    Lock     // zero with New
	Installed Lock     // zero with Gone
}

// Check compares the file with what is installed: the modules of all calls
// that aren't local, each key once. There is a finding for each key on either
// side, sorted by key.
//
// A commit that isn't known on one side is no change: a module that was kept
// needn't be a repository any more. The hash says what matters.
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

// Updated returns the locks of what is installed. An entry that is the same
// stays as it is, with the commit that it may have and the installed module may not.
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

// HashTree reads the directory of an installed package and returns the hash of
// its tree, as the package's documentation defines it. A symlink in place of
// dir itself is followed. What is neither a file, a directory nor a symlink is
// an error, and so is a name with a newline. When ctx ends, its cause is
// returned.
func HashTree(ctx context.Context, dir string) (getproviders.Hash, error) {
	h, err := hashTree(ctx, dir)
	if err != nil {
		return "", fmt.Errorf("hashing the module package in %s: %w", dir, err)
	}
	return h, nil
}

func hashTree(ctx context.Context, dir string) (getproviders.Hash, error) {
	root, err := filepath.EvalSymlinks(dir) // the walk wouldn't enter a link
	if err != nil {
		return "", err
	}
	var files []treehash.File
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
		digest, err := digestEntry(ctx, path, filepath.ToSlash(name), entry)
		files = append(files, digest)
		return err
	})
	if err != nil {
		return "", err
	}
	return treehash.H1(files)
}

// isBookkeeping reports whether something belongs to version control: what it
// has for itself differs from one checkout of a tree to the next.
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

// digestEntry returns the line of the list for a file or a symlink.
func digestEntry(ctx context.Context, path, name string, entry fs.DirEntry) (treehash.File, error) {
	switch entry.Type() {
	case 0:
		return treehash.Digest(ctx, path, name)
	case fs.ModeSymlink:
		target, err := os.Readlink(path)
		sum := sha256.Sum256([]byte(filepath.ToSlash(target)))
		return treehash.File{Name: "/" + name, SHA256: sum}, err
	default:
		return treehash.File{}, fmt.Errorf("%s is neither a file nor a symlink", path)
	}
}
