package providercache_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// A receipt counts only if its files were left alone for a moment. Directories that are linked
// from a cache don't wait for that: their files and directories have the times of the cache's.
func TestInstall_WaitsForNothingWithAWarmCache(t *testing.T) {
	needsReceipts(t)
	for _, mode := range []providercache.LinkMode{providercache.LinkAuto, providercache.LinkHardlink, providercache.LinkCopy, providercache.LinkSymlink} {
		t.Run(mode.String(), func(t *testing.T) {
			m := parallelMachine(t)
			locks, _ := m.first()
			age()
			fresh := []*directory{m.directory(), m.directory(), m.directory()}
			synctest.Test(t, func(t *testing.T) {
				for i, d := range append(fresh, fresh...) {
					d.Link = mode
					must.Equal(t, m.waited(t, d, locks, clock(t)), 0, i)
					must.Len(t, d.read, 0)
				}
			})
		})
	}
}

// A package that was just unpacked doesn't wait either.
func TestInstall_WaitsForNothingAfterUnpacking(t *testing.T) {
	needsReceipts(t)
	for name, cached := range map[string]bool{"by way of a cache": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			m := parallelMachine(t)
			source := newWidgetSource(t)
			source.From("acme/widget", "1.0.0", "memory")
			d := m.directory()
			d.Fetcher.Source = source
			if !cached {
				d.Cache = nil
			}
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				d.Fetcher.Now = clock(t)
				d.Fetcher = installtest.Again(d.Fetcher)
				locks, _ := install(t, d.Installer, widgets, nil)
				must.Equal(t, time.Since(start), 0)
				if install(t, d.Installer, widgets, locks); len(d.read) > 0 {
					t.Errorf("it read %q again", d.read)
				}
			})
		})
	}
}

// With strict times, hard links need a wait.
func TestInstall_WaitsForCtimesIfTheyCount(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	m.Strict = true
	locks, _ := m.first()
	d := m.directory()
	d.Link = providercache.LinkHardlink
	began := time.Now() // the clock stands still: on a busy machine, the moment to wait for would be over before the wait
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if waited := m.waited(t, d, locks, func() time.Time { return began.Add(time.Since(start)) }); waited == 0 {
			t.Error("it waited for nothing")
		}
	})
}

// waited installs in a bubble, in which time passes only while all goroutines wait, and returns
// how much time passed.
func (m *machine) waited(t *testing.T, d *directory, locks *depsfile.Locks, now func() time.Time) time.Duration {
	t.Helper()
	start := time.Now()
	m.tb, d.Fetcher.Now = t, now // its context is the bubble's
	m.install(d, locks)
	return time.Since(start)
}

// clock is the time outside of the bubble, as new files have it, plus the time that has passed in the bubble.
func clock(t *testing.T) func() time.Time {
	start, file := time.Now(), filepath.Join(t.TempDir(), "clock")
	return func() time.Time {
		must.Equal(t, os.WriteFile(file, []byte("x"), 0o600), nil)
		return must.Get(os.Stat(file))(t).ModTime().Add(time.Since(start))
	}
}

func openToAll(t *testing.T, dir string) {
	t.Helper()
	succeed(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return cachetest.OpenToAll(path)
	}))
}

// A user who can write to a shared cache can change packages, and set the mtimes of files that
// he owns. So no receipt counts for such a cache, and its packages are read each time.
func TestCache_AnotherUsersWriteIsSeenAndRefused(t *testing.T) {
	needsReceipts(t)
	for name, change := range othersChange {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := sharedMachine(t)
			locks, _ := m.first()
			openToAll(t, m.Cache)
			age()
			for range 2 {
				_, did := m.install(m.directory(), locks)
				must.Equal(t, did, "linked 2, read 2")
			}
			dir, file := packageA(t, m.Cache)
			change(t, file, dir)
			_, did := m.install(m.directory(), locks)
			must.Contain(t, did, "archive 1")
			must.NotContain(t, treeOf(t, m.Cache), "evil")
		})
	}
}

// The files of all directories are one file, so a chmod in one of them is a chmod in all.
func TestCache_ChmodOfAHardLinkIsMended(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	locks, _ := m.first()
	age()
	changed, removed := m.directory(), m.directory()
	for _, d := range []*directory{changed, removed} {
		m.install(d, locks)
		_, file := packageA(t, d.Target.Dir)
		succeed(t, os.Chmod(file, 0o644))
		must.Get(d.Check(t.Context(), both, locks))(t)
		must.Equal(t, must.Get(os.Stat(file))(t).Mode(), 0o644, "Check writes nothing")
		if d == removed {
			succeed(t, os.RemoveAll(d.Target.Dir))
		}
		m.install(d, locks)
		must.Equal(t, must.Get(os.Stat(file))(t).Mode(), 0o755)
	}
}

// Each user has his own receipts: a second user reads each package of the cache once. What he may
// not write to stays as it is.
func TestCache_WhatAnotherUserInstalledIsHashedFirst(t *testing.T) {
	needsReceipts(t)
	m := newMachine(t)
	locks, _ := m.first()
	m.State = filepath.Join(t.TempDir(), "theirs")
	for _, want := range []string{"linked 2, read 2", "linked 2"} {
		age()
		_, did := m.install(m.directory(), locks)
		must.Equal(t, did, want)
	}
	_, did := m.first()
	must.Contain(t, did, "archive 2", "without a lock entry nobody says where these come from")
}

// A link into a cache that every user can write to could lead, after it was verified, to any other package.
func TestCache_NoLinkLeadsToWhatAnotherUserCanChange(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	locks, _ := m.first()
	openToAll(t, m.Cache)
	linked := m.directory()
	_, report := install(t, linked.Installer, both, locks)
	for _, o := range report.Outcomes {
		if o.Link == providercache.LinkSymlink || !errors.Is(o.LinkReason, link.ErrChangedByOthers) {
			t.Errorf("%s is a %v, because of %v", o.Provider, o.Link, o.LinkReason)
		}
	}
	fetched := m.directory()
	succeed(t, os.RemoveAll(filepath.Join(m.Cache, registryHost)))
	m.install(fetched, locks)
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

// apart runs another process that installs acme/widget 1.0.0 through a cache, and returns its exit
// code.
func apart(tb testing.TB, where, archive, target, cache, state string) int {
	tb.Helper()
	other := exec.CommandContext(tb.Context(), os.Args[0], archive, target, cache, state)
	other.Env = append(os.Environ(), dieVariable+"="+where)
	err := other.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	tb.Errorf("the other process ended with %v", err)
	return -1
}

func TestCache_ManyProcessesFetchAPackageOnce(t *testing.T) {
	needsReceipts(t)
	source := newWidgetSource(t)
	archive := source.Packages[acmeWidget][v1].Location.String()
	dir := t.TempDir()
	codes := make([]int, 12)
	var all sync.WaitGroup
	for i := range codes {
		all.Go(func() {
			codes[i] = apart(t, "fetched", archive, filepath.Join(dir, fmt.Sprint(i)), filepath.Join(dir, "cache"), filepath.Join(dir, "state"))
		})
	}
	all.Wait()
	slices.Sort(codes)
	if codes[0] != didFetch || codes[1] != didLink || codes[len(codes)-1] != didLink {
		t.Errorf("the processes ended with %d; one should have fetched", codes)
	}
}

// killsVariable is how many processes TestCache_KillsAtRandomMoments kills.
const killsVariable = "TFDEPS_TEST_KILLS"

// TestCache_KillsAtRandomMoments kills processes at moments between their start and their end, and
// runs one to its end after every two of them: it finds everything in order. TFDEPS_TEST_KILLS=300
// takes some minutes.
func TestCache_KillsAtRandomMoments(t *testing.T) {
	needsReceipts(t)
	kills := 5
	if given := os.Getenv(killsVariable); given != "" {
		var err error
		kills, err = strconv.Atoi(given)
		succeed(t, err)
	}
	source := newSource(t)
	content := strings.Repeat("provider ", 1<<20)
	source.AddZip(t, "acme/widget", "1.0.0", zipOf(t, map[string]string{"terraform-provider-widget": content}))
	archive := source.Packages[acmeWidget][v1].Location.String()
	for i := range kills {
		dir := t.TempDir()
		target, cache, state := filepath.Join(dir, "target"), filepath.Join(dir, "cache"), filepath.Join(dir, "state")
		for j := range 2 { // first while it fetches, then while it links
			victim := exec.CommandContext(t.Context(), os.Args[0], archive, filepath.Join(target, fmt.Sprint(j)), cache, state)
			victim.Env = append(os.Environ(), dieVariable+"=fetched")
			succeed(t, victim.Start())
			time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
			_ = victim.Process.Kill()
			_ = victim.Wait()
		}
		for j := range 2 {
			if code := apart(t, "fetched", archive, filepath.Join(target, fmt.Sprint(j)), cache, state); code != didFetch && code != didLink {
				t.Errorf("%d: the next one ended with %d", i, code)
			}
		}
		for _, root := range []string{filepath.Join(target, "0"), filepath.Join(target, "1"), cache} {
			noStages(t, root)
			must.Equal(t, read(t, widgetIn(root)), content, i, root)
		}
		succeed(t, os.RemoveAll(dir))
	}
}
