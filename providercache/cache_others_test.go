package providercache_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

func openToAll(t *testing.T, dir string) {
	t.Helper()
	succeed(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return cachetest.OpenToAll(path)
	}))
}

// A user who can write to a shared cache can change packages, and can set the mtime of his own
// files there. So no receipt counts for such a cache, and its packages are read each time.
func TestCache_AnotherUsersWriteIsSeenAndRefused(t *testing.T) {
	needsReceipts(t)
	for name, change := range othersChange {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := sharedMachine(t)
			locks, _ := m.first(t)
			openToAll(t, m.Cache)
			age()
			for range 2 {
				_, did := m.install(t, m.directory(t), locks)
				must.Equal(t, did, "linked 2, read 2")
			}
			dir, file := packageA(t, m.Cache)
			change(t, file, dir)
			_, did := m.install(t, m.directory(t), locks)
			must.Contain(t, did, "archive 1")
			must.NotContain(t, treeOf(t, m.Cache), "evil")
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
	for _, want := range []string{"linked 2, read 2", "linked 2"} {
		age()
		_, did := m.install(t, m.directory(t), locks)
		must.Equal(t, did, want)
	}
	_, did := m.first(t)
	must.Contain(t, did, "archive 2", "without a lock entry nobody says where these come from")
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
	packages := must.Get(m.Maintenance(t).List())(t)
	must.Len(t, packages, 2)
	for _, p := range packages {
		othersReplace(t, only(t, filepath.Join(p.Dir, "terraform-provider-")))
	}
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
