//go:build unix

package providercache_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

const nobody = 65534

// asNobody runs a shell command as another user. Only root can do that.
func asNobody(t *testing.T, script string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// sharedMachine has a named cache that every user may write to.
func sharedMachine(t *testing.T) *machine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user as well")
	}
	m := newMachine(t)
	m.Named = true
	base := t.TempDir()
	succeed(t, errors.Join(os.Chmod(filepath.Dir(base), 0o755), os.Chmod(base, 0o755)))
	m.Cache = filepath.Join(base, "cache")
	return m
}

func openToAll(t *testing.T, dir string) {
	t.Helper()
	succeed(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, 0o777)
	}))
}

// A user who can write to a shared cache can change packages, and can set the mtime of his own
// files there. So no receipt counts for such a cache, and its packages are read each time.
func TestCache_AnotherUsersWriteIsSeenAndRefused(t *testing.T) {
	needsReceipts(t)
	for name, script := range map[string]string{
		"written over":            `printf evil >"$1"`,
		"another file, as old":    `printf evil >"$1.x" && chmod 777 "$1.x" && touch -r "$1" "$1.x" && mv "$1.x" "$1"`,
		"the file and one beside": `printf evil >"$2/more"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := sharedMachine(t)
			locks, _ := m.first(t)
			openToAll(t, m.Cache)
			age()
			for range 2 {
				sound := m.directory(t)
				_, asked := m.install(t, sound, locks)
				must.Len(t, sound.read, 2)
				must.Equal(t, len(asked), 0)
			}
			dir := filepath.Join(m.Cache, filepath.FromSlash(packageDir(registryHost+"/acme/a", "1.0.0")))
			asNobody(t, script, only(t, filepath.Join(dir, "terraform-provider-a")), dir)
			fresh := m.directory(t)
			if _, asked := m.install(t, fresh, locks); len(fresh.read) == 0 || asked["archive"] != 1 {
				t.Errorf("read %q, requests %v; want that the package is read and fetched again", fresh.read, asked)
			}
			must.NotContain(t, fresh.treeOf(t, m.Cache), "evil")
		})
	}
}

// Each user has his own receipts: a second user reads each package of the cache once. What he may
// not write to stays as it is.
func TestCache_WhatAnotherUserInstalledIsHashedFirst(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	locks, _ := m.first(t)
	m.State = filepath.Join(t.TempDir(), "theirs")
	age()
	other := m.directory(t)
	_, asked := m.install(t, other, locks)
	must.Equal(t, len(asked), 0)
	must.Len(t, other.read, 2)
	if _, asked := m.first(t); asked["archive"] != 2 {
		t.Errorf("without a lock entry: requests %v, want two for archives, as nobody says where these come from", asked)
	}
}

// With sudo, the home directory is another user's. Nothing is written there, and nothing there is
// trusted.
func TestCache_NothingIsWrittenIntoAnotherUsersHome(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give directories away")
	}
	m := newMachine(t)
	home := t.TempDir()
	succeed(t, os.Chown(home, nobody, nobody))
	must.Refuse(providercache.OpenCache(filepath.Join(home, "cache"), false))(t)
	must.Get(providercache.OpenCache(filepath.Join(home, "cache"), true))(t)
	m.State = filepath.Join(home, "state")
	d := m.directory(t)
	locks, _ := m.install(t, d, nil)
	must.Equal(t, len(tree(t, home)), 0)
	if m.install(t, d, locks); len(d.read) != 2 {
		t.Errorf("read %q, and there are no receipts", d.read)
	}
}

// A link into a cache that every user may write to would lead, after it was verified, to whatever another user puts there.
func TestCache_NoLinkLeadsToWhatAnotherUserCanChange(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	locks, _ := m.first(t)
	openToAll(t, m.Cache)
	linked := m.directory(t)
	_, report := install(t, linked.Installer, both, locks)
	for _, o := range report.Outcomes {
		if o.Link == providercache.LinkSymlink || !errors.Is(o.LinkReason, link.ErrChangedByOthers) {
			t.Errorf("%s is a %v, because of %v", o.Provider, o.Link, o.LinkReason)
		}
	}
	fetched := m.directory(t)
	succeed(t, os.RemoveAll(filepath.Join(m.Cache, registryHost)))
	m.install(t, fetched, locks)
	openToAll(t, m.Cache)
	asNobody(t, `find "$1" -name 'terraform-provider-*' | while read f; do printf evil >"$f.x" && mv "$f.x" "$f"; done`, m.Cache)
	for name, d := range map[string]*directory{"linked": linked, "fetched": fetched} {
		succeed(t, filepath.WalkDir(d.Target.Dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if content, err := os.ReadFile(path); string(content) == "evil" || err != nil {
				t.Errorf("%s: %s is another program now (%v)", name, path, err)
			}
			return nil
		}))
	}
}
