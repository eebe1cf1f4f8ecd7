package providercache_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/providercache"
)

// apart runs another process that installs acme/widget 1.0.0 by way of a cache,
// and returns its exit code.
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

func TestWhatAKilledProcessLeavesInTheCacheHarmsNobody(t *testing.T) {
	t.Parallel()
	needsReceipts(t)
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	source.from("acme/widget", "1.0.0", "the test")
	archive := source.packages[provider("acme/widget")][version("1.0.0")].Location.String()
	for where, staged := range map[string]int{"begun": 1, "received": 1, "done": 1} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := newInstaller(t, source)
			in.Cache, in.StateDir = &providercache.Cache{Dir: filepath.Join(dir, "cache")}, filepath.Join(dir, "state")
			if code := apart(t, where, archive, in.Target.Path, in.Cache.Dir, in.StateDir); code != diedAsAsked {
				t.Fatalf("it ended with %d", code)
			}
			if got := stagingDirs(tree(t, in.Cache.Dir)); got != staged {
				t.Errorf("%d staging directories, so this test doesn't show what it should", got)
			}
			in.Target = &providercache.Dir{Path: filepath.Join(dir, "other")}
			install(t, in, require("acme/widget", ""), nil)
			if got := stagingDirs(tree(t, in.Cache.Dir)); got != 0 && where != "done" {
				t.Errorf("there is %q", tree(t, in.Cache.Dir))
			}
			for _, root := range []string{in.Target.Path, in.Cache.Dir} {
				if got := read(t, filepath.Join(root, filepath.FromSlash(packageDir("acme/widget", "1.0.0")), "terraform-provider-widget")); got != "provider 1.0.0\n" {
					t.Errorf("%s has %q", root, got)
				}
			}
		})
	}
}

func TestManyProcessesFetchAPackageOnce(t *testing.T) {
	t.Parallel()
	needsReceipts(t)
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0")
	archive := source.packages[provider("acme/widget")][version("1.0.0")].Location.String()
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

// TestKillsAtRandomMoments kills processes from outside, and then runs one.
func TestKillsAtRandomMoments(t *testing.T) {
	t.Parallel()
	needsReceipts(t)
	source := newSource(t)
	source.addZip(t, "acme/widget", "1.0.0", zipOf(t, map[string]string{"terraform-provider-widget": strings.Repeat("provider ", 1<<20)}))
	archive := source.packages[provider("acme/widget")][version("1.0.0")].Location.String()
	dir := t.TempDir()
	target, cache, state := filepath.Join(dir, "target"), filepath.Join(dir, "cache"), filepath.Join(dir, "state")
	for i := range 15 {
		if i%5 == 0 {
			_ = os.RemoveAll(cache)
			_ = os.RemoveAll(target)
		}
		victim := exec.CommandContext(t.Context(), os.Args[0], archive, target, cache, state)
		victim.Env = append(os.Environ(), dieVariable+"=fetched")
		must(t, victim.Start())
		time.Sleep(time.Duration(10+7*i) * time.Millisecond)
		_ = victim.Process.Kill()
		_ = victim.Wait()
	}
	if code := apart(t, "fetched", archive, filepath.Join(dir, "last"), cache, state); code != didFetch && code != didLink {
		t.Errorf("the last one ended with %d", code)
	}
	if code := apart(t, "fetched", archive, filepath.Join(dir, "next"), cache, state); code != didLink {
		t.Errorf("the next one ended with %d", code)
	}
	if got := stagingDirs(tree(t, filepath.Join(dir, "last"))); got > 0 {
		t.Errorf("%d staging directories", got)
	}
}
