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
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

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
	source := newSource(t)
	source.AddZip(t, "acme/widget", "1.0.0")
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
			noneStaged(t, root)
			must.Equal(t, read(t, widgetIn(root)), content, i, root)
		}
		succeed(t, os.RemoveAll(dir))
	}
}
