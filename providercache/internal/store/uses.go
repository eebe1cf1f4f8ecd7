package store

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/statefile"
)

// An installation notes in the user's state directory which packages it uses: for each target the
// packages of caches that it has, and for each cache when its packages were last used, which survives
// the targets. A use is noted again only after a day, so that a run that changes nothing rarely
// writes; in a cache, which hundreds of directories may use one after the other, after an hour.
const (
	usesDir     = "uses"
	lastUsesDir = "last-uses"
	notedFor    = 24 * time.Hour

	lastNotedFor = time.Hour

	// byLink marks a use by a symbolic link, which dangles without the package.
	byLink = " link"
	// linkPending is how long after the note the link may still be missing.
	linkPending = time.Hour
)

// Uses are the packages of a cache that a target has or is going to have.
type Uses struct {
	State   string // the user's state directory
	Target  View
	Present []string // names of packages that the target already has
	Due     []string // names of packages that are installed now
	Link    bool     // as symbolic links
}

// NoteUses notes that a target uses packages of the cache. It is called before they are linked:
// a removal renames packages first and reads the notes then, so that no link is left to a
// removed package. If notes can't be written, the installation goes on without them.
func NoteUses(ctx context.Context, c *Store, u Uses, now time.Time) {
	root, err := receipt.Resolved(c.Dir)
	if err != nil || u.State == "" {
		return
	}
	mark := ""
	if u.Link {
		mark = byLink
	}
	mine := notes{u.Target.Own.File.Beside(usesDir)}
	var due []string
	for i, name := range slices.Concat(u.Present, u.Due) {
		key := filepath.Join(root, filepath.FromSlash(name))
		if noted := mine.at(key); i < len(u.Present) && !noted.After(now) && now.Sub(noted) < notedFor {
			continue
		}
		mine.note(key, now, mark)
		due = append(due, name)
	}
	if len(due) == 0 {
		return
	}
	last := openNotes(u.State, lastUsesDir, root)
	for _, name := range due {
		if noted := last.at(name); noted.After(now) || now.Sub(noted) >= lastNotedFor {
			last.note(name, now, "")
		}
	}
	_, _ = mine.Save(ctx), last.Save(ctx)
}

// notes are times by keys.
type notes struct{ *statefile.File }

func openNotes(state, kind, root string) notes {
	return notes{receipt.OpenState(state, kind, root)}
}

func (n notes) note(key string, at time.Time, mark string) {
	n.Set(key, []byte(at.UTC().Format(time.RFC3339)+mark))
}

// at returns when a key was noted, or zero if it wasn't.
func (n notes) at(key string) time.Time {
	value, _ := n.Get(key)
	return notedAt(value)
}

func notedAt(value []byte) time.Time {
	text, _ := strings.CutSuffix(string(value), byLink)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// usage is what notes and receipts record about the users of a cache's packages.
type usage struct {
	root     string // the cache's, without links
	last     notes
	byDir    map[string]map[string][]byte // what each target has noted
	received map[string][]string          // for each directory the names of packages with receipts
	now      time.Time
}

// uses reads the notes and receipts.
func (u *Maintenance) uses() usage {
	root, err := receipt.Resolved(u.Cache.Dir)
	if err != nil {
		root = u.Cache.Dir
	}
	using := usage{root: root, last: openNotes(u.StateDir, lastUsesDir, root), byDir: map[string]map[string][]byte{}, now: u.Now()}
	receipt.EachStateFile(u.StateDir, usesDir, func(_, dir string, entries map[string][]byte) { using.byDir[dir] = entries })
	using.received = receipt.ReceiptRoots(u.StateDir)
	return using
}

// complete sets the fields of a package about its use.
func (u usage) complete(p *Package) {
	name, key := p.Name(), filepath.Join(u.root, filepath.FromSlash(p.Name()))
	p.LastUse = u.last.at(name)
	for dir, noted := range u.byDir {
		if at := notedAt(noted[key]); at.After(p.LastUse) && u.has(dir, name) {
			p.LastUse = at
		}
	}
	if info, err := os.Stat(p.Dir); err == nil && p.LastUse.IsZero() {
		p.LastUse = info.ModTime()
	}
	p.Users, p.Linked = u.users(name, key)
}

// users returns the directories that have a package, and those of them that only link to it.
func (u usage) users(name, key string) (users, linked []string) {
	for dir, noted := range u.byDir {
		_, ok := noted[key]
		isLink := u.linksTo(filepath.Join(dir, filepath.FromSlash(name)), key)
		if isLink {
			linked = append(linked, dir)
		}
		if isLink || ok && u.has(dir, name) {
			users = append(users, dir)
		}
	}
	for dir, names := range u.received {
		if dir != u.root && u.byDir[dir] == nil && slices.Contains(names, name) && u.has(dir, name) {
			users = append(users, dir)
		}
	}
	slices.Sort(users)
	slices.Sort(linked)
	return users, linked
}

// needs reports whether a directory has a link to a package, or has
// noted within linkPending that it is about to make one.
func (u usage) needs(name, key string) bool {
	_, linked := u.users(name, key)
	for dir, noted := range u.byDir {
		value := noted[key]
		_, err := os.Lstat(filepath.Dir(filepath.Dir(dir)))
		if strings.HasSuffix(string(value), byLink) && u.now.Sub(notedAt(value)) < linkPending && !u.has(dir, name) && err == nil {
			return true
		}
	}
	return len(linked) > 0
}

func (u usage) has(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil
}

// linksTo reports whether a path is a symbolic link to a package, which need not exist at the moment.
func (u usage) linksTo(path, key string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := os.Readlink(path)
	if err != nil {
		return false
	}
	if real, err := receipt.Resolved(target); err == nil {
		target = real
	}
	return target == key
}

// sweepNotes removes the notes of directories that no longer exist, but
// not recent notes, because their directory may not exist yet.
func sweepNotes(state string, now time.Time) {
	for _, kind := range []string{usesDir, lastUsesDir} {
		receipt.EachStateFile(state, kind, func(path, root string, _ map[string][]byte) {
			info, err := os.Stat(path)
			if _, gone := os.Lstat(root); err == nil && os.IsNotExist(gone) && now.Sub(info.ModTime()) > notedFor {
				_ = patient.Remove(path)
			}
		})
	}
}
