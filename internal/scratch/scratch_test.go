package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestSweep_RemovesWhatWasAbandoned(t *testing.T) {
	parent, now := t.TempDir(), time.Now()
	alive := must.Get(Make(parent))(t)
	t.Cleanup(alive.Remove)
	old, young, other := filepath.Join(parent, Prefix+"old"), filepath.Join(parent, Prefix+"young"), filepath.Join(parent, ".other")
	file := filepath.Join(parent, Prefix+"file")
	for _, dir := range []string{old, young, other} {
		must.Write(t, filepath.Join(dir, "archive.zip"), "")
	}
	long := now.Add(-AbandonedAfter - time.Minute)
	must.Write(t, file, "")
	for _, name := range []string{old, other, file} {
		must.Succeed(t, os.Chtimes(name, long, long))
	}
	Sweep(parent, now)
	for name, want := range map[string]bool{alive.Path: true, young: true, other: true, file: true, old: false} {
		must.Equal(t, must.ErrorOf(os.Stat(name)) == nil, want, name)
	}
	must.Equal(t, alive.Abandon(), filelock.Supported)
	Sweep(parent, now)
	must.Equal(t, errors.Is(must.ErrorOf(os.Stat(alive.Path)), fs.ErrNotExist), filelock.Supported) // else it isn't old enough
}

func TestSweep_OfNothing(t *testing.T) {
	Sweep(filepath.Join(t.TempDir(), "missing"), time.Now())
}

func TestRemove_TakesEverythingWithIt(t *testing.T) {
	parent := t.TempDir()
	dir := must.Get(Make(parent))(t)
	must.Succeed(t, os.MkdirAll(filepath.Join(dir.Path, "package", "a"), 0o755))
	dir.Remove()
	dir.Remove() // a second call does no harm
	must.Len(t, must.Get(os.ReadDir(parent))(t), 0)
	must.Refuse(Make(filepath.Join(parent, "missing")))(t, "made a directory in none")
}

func TestRemoveEmpty_TakesWhatMakeDirsHasMade(t *testing.T) {
	parent := t.TempDir()
	for _, used := range []bool{false, true} {
		made, err := MakeDirs(filepath.Join(parent, "a", "b", "c"))
		if err != nil || len(made) != 3 {
			t.Fatalf("made %q, %v", made, err)
		}
		if used {
			must.Succeed(t, os.Mkdir(filepath.Join(parent, "a", "other"), 0o755))
		}
		RemoveEmpty(made)
		must.Equal(t, len(must.Get(filepath.Glob(filepath.Join(parent, "*", "*")))(t)) == 1, used)
		must.Equal(t, must.ErrorOf(os.Stat(filepath.Join(parent, "a"))) == nil, used)
	}
}

// A young directory without a lock may be in use.
func TestSweep_RemovesWhatHasNoLockYet(t *testing.T) {
	parent := t.TempDir()
	probe := must.Get(Make(parent))(t)
	t.Cleanup(probe.Remove)
	empty, begun, full := filepath.Join(parent, Prefix+"empty"), filepath.Join(parent, Prefix+"begun"), filepath.Join(parent, Prefix+"full")
	must.Succeed(t, os.Mkdir(empty, 0o700))
	must.Write(t, filepath.Join(begun, lockName+".new"), "")
	must.Write(t, filepath.Join(full, "x"), "")
	Sweep(parent, time.Now())
	for dir, want := range map[string]bool{empty: !filelock.Supported, begun: !filelock.Removable, full: true, probe.Path: true} {
		must.Equal(t, must.ErrorOf(os.Stat(dir)) == nil, want, dir)
	}
}

// A process that makes a directory while others sweep gets one that isn't removed.
func TestSweep_WhileDirectoriesAreMade(t *testing.T) {
	parent := t.TempDir()
	done := make(chan struct{})
	var sweepers sync.WaitGroup
	for range 4 {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					Sweep(parent, time.Now())
				}
			}
		})
	}
	for range peertest.Rounds(40, 200) {
		dir := must.Get(Make(parent))(t)
		must.Equal(t, os.WriteFile(filepath.Join(dir.Path, "x"), nil, 0o600), nil)
		dir.Remove()
	}
	close(done)
	sweepers.Wait()
}

func TestCheckLinks_NamesTheLinkAboveAPath(t *testing.T) {
	top := must.WriteAll(t, t.TempDir(), map[string]string{"base/dir/sub/": "", "elsewhere/sub/": ""})
	base := filepath.Join(top, "base")
	link := filepath.Join(base, "link")
	made := must.Symlink("../elsewhere", link)
	for path, want := range map[string]bool{"dir/sub": false, "link": false, "link/sub": true, "link/absent": false} {
		t.Run(path, func(t *testing.T) {
			if made != nil && strings.HasPrefix(path, "link") {
				t.Skip("no symbolic links here: ", made)
			}
			err := CheckLinks(base, filepath.Join(base, path))
			found, ok := errors.AsType[*LinkError](err)
			if ok != want || err == nil == want || want && found.Link != link {
				t.Errorf("%v, want a link: %t", err, want)
			}
		})
	}
}

// TestMake_FailsWhereItsLockCantGetItsName: otherwise a sweep would remove the directory while it is in use. If file
// locks don't work, age decides.
func TestMake_FailsWhereItsLockCantGetItsName(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockName)
	if err := os.Mkdir(path, 0o700); err != nil { // no file can be renamed to it
		t.Fatal(err)
	}
	if lock, swept, err := holdLock(path); lock != nil || swept || (err != nil) != filelock.Removable {
		t.Errorf("%v, %v, %v", lock, swept, err)
	}
}
