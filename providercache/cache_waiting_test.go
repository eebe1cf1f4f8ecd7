package providercache_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// A receipt counts only if its files were left alone for a moment. Directories that are linked
// from a cache don't wait for that: their files and directories have the times of the cache's.
func TestInstall_WaitsForNothingWithAWarmCache(t *testing.T) {
	needsReceipts(t)
	for _, mode := range []providercache.LinkMode{providercache.LinkAuto, providercache.LinkHardlink, providercache.LinkCopy, providercache.LinkSymlink} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			locks, _ := m.first(t)
			age()
			fresh := []*directory{m.directory(t), m.directory(t), m.directory(t)}
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
			t.Parallel()
			m := newMachine(t)
			source := newSource(t)
			source.AddZip(t, "acme/widget", "1.0.0")
			source.From("acme/widget", "1.0.0", "memory")
			d := m.directory(t)
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
	locks, _ := m.first(t)
	d := m.directory(t)
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
	d.Fetcher.Now = now
	m.install(t, d, locks)
	return time.Since(start)
}

// clock is the time outside of the bubble, as new files have it, and what has passed in the bubble besides.
func clock(t *testing.T) func() time.Time {
	start, file := time.Now(), filepath.Join(t.TempDir(), "clock")
	return func() time.Time {
		must.Equal(t, os.WriteFile(file, []byte("x"), 0o600), nil)
		return must.Get(os.Stat(file))(t).ModTime().Add(time.Since(start))
	}
}
