package receipt

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
)

// inCache returns the receipt that the next process finds if it uses the packages as a cache.
func (s kept) inCache(strict bool) (Receipt, bool) {
	r := OpenCache(s.State, s.Root)
	r.StrictTimes = strict
	return r.Known(packageName, s.Dir, time.Now())
}

// keepInCache is keep for a cache. The test is skipped where others can write to the temporary
// directory.
func keepInCache(t *testing.T) kept {
	t.Helper()
	s := keep(t)
	if _, ok := s.inCache(false); !ok {
		t.Skip("others can write to the directory for temporary files")
	}
	return s
}

// filesOfKept are the files that keep makes.
var filesOfKept = []string{widgetFile, "LICENSE", "docs/deep/page"}

// moveCtime makes a hard link and deletes it. The same happens to the cache's files when a
// directory with links to them is deleted.
func moveCtime(t *testing.T, path string) {
	t.Helper()
	other := filepath.Join(t.TempDir(), "other")
	if err := os.Link(path, other); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	must.Succeed(t, os.Remove(other))
}

func TestKnown_CountsInACacheAlthoughFilesCtimesMoved(t *testing.T) {
	s := keepInCache(t)
	if rc, _ := s.inCache(false); rc.Moved() {
		t.Error("ctimes moved before anything happened")
	}
	for _, name := range filesOfKept {
		moveCtime(t, filepath.Join(s.Dir, name))
	}
	rc, ok := s.inCache(false)
	if !ok || !rc.Moved() {
		t.Fatalf("known %t, moved %t; want both", ok, rc.Moved())
	}
	_, ok = s.inCache(true)
	must.Equal(t, ok, false, "it counts with strict times")
	must.Equal(t, s.isKnown(), false, "it counts in a target")
	time.Sleep(fineGranule + 10*time.Millisecond) // so that the ctimes are past
	r := OpenCache(s.State, s.Root)
	r.Record(t.Context(), time.Now, Pending{Name: packageName, Dir: s.Dir, Receipt: rc, Linked: true})
	must.Succeed(t, r.File.Save(t.Context()))
	if rc, ok := s.inCache(true); !ok || rc.Moved() {
		t.Errorf("renewed, it is known with strict times: %t, moved: %t", ok, rc.Moved())
	}
}

// sameLength is other content of the same length.
func sameLength(t *testing.T, path string) []byte {
	t.Helper()
	content := []byte(read(t, path))
	for i := range content {
		content[i] ^= 1
	}
	return content
}

// singleChanges are changes of a file that leave its mtime as it was. The test sets the mtimes of
// directories back.
var singleChanges = map[string]func(t *testing.T, path string, info os.FileInfo){
	"a byte is written": func(t *testing.T, path string, _ os.FileInfo) {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		must.Succeed(t, err)
		_, err = file.WriteAt([]byte("#"), 1)
		must.Succeed(t, errors.Join(err, file.Close()))
	},
	"all of it is written over": func(t *testing.T, path string, info os.FileInfo) {
		must.Succeed(t, os.WriteFile(path, sameLength(t, path), info.Mode()))
	},
	"a byte is appended": func(t *testing.T, path string, _ os.FileInfo) {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		must.Succeed(t, err)
		_, err = file.WriteString("#")
		must.Succeed(t, errors.Join(err, file.Close()))
	},
	"a byte is cut off, mtime set back": func(t *testing.T, path string, info os.FileInfo) {
		must.Succeed(t, errors.Join(os.Truncate(path, info.Size()-1), os.Chtimes(path, time.Time{}, info.ModTime())))
	},
	"it is cut and made as long again": func(t *testing.T, path string, info os.FileInfo) {
		must.Succeed(t, errors.Join(os.Truncate(path, 0), os.Truncate(path, info.Size())))
	},
	"its mode changes": func(t *testing.T, path string, _ os.FileInfo) {
		must.Succeed(t, os.Chmod(path, 0o500))
	},
	"another file takes its name, mtime set back": func(t *testing.T, path string, info os.FileInfo) {
		content := sameLength(t, path)
		must.Succeed(t, errors.Join(os.WriteFile(path+".x", content, info.Mode()), os.Chtimes(path+".x", time.Time{}, info.ModTime()), os.Rename(path+".x", path)))
	},
	"it is deleted and made again, mtime set back": func(t *testing.T, path string, info os.FileInfo) { // the new file may get the old inode
		content := sameLength(t, path)
		must.Succeed(t, errors.Join(os.Remove(path), os.WriteFile(path, content, info.Mode()), os.Chtimes(path, time.Time{}, info.ModTime())))
	},
	"it is deleted": func(t *testing.T, path string, _ os.FileInfo) { must.Succeed(t, os.Remove(path)) },
	"only its mtime changes": func(t *testing.T, path string, info os.FileInfo) {
		must.Succeed(t, os.Chtimes(path, time.Time{}, info.ModTime().Add(-1000)))
	},
}

func TestKnown_NoticesEverySingleChangeInACache(t *testing.T) {
	t.Parallel()
	for what, change := range singleChanges {
		for _, name := range filesOfKept {
			t.Run(what+", "+filepath.Base(name), func(t *testing.T) {
				s := keepInCache(t)
				path := filepath.Join(s.Dir, name)
				info := must.Get(os.Lstat(path))(t)
				above := must.Get(os.Lstat(filepath.Dir(path)))(t)
				change(t, path, info)
				must.Succeed(t, os.Chtimes(filepath.Dir(path), time.Time{}, above.ModTime()))
				_, ok := s.inCache(false)
				must.Equal(t, ok || s.isKnown(), false, "it isn't noticed")
			})
		}
	}
}

// Two files of one size, one mode and one mtime change places.
func TestKnown_NoticesTwoFilesThatChangePlacesInACache(t *testing.T) {
	t.Parallel()
	a, b := widgetFile, "LICENSE"
	for what, swap := range map[string]func(t *testing.T, dir string){
		"by renames": func(t *testing.T, dir string) {
			a, b := filepath.Join(dir, a), filepath.Join(dir, b)
			must.Succeed(t, errors.Join(os.Rename(a, a+".x"), os.Rename(b, a), os.Rename(a+".x", b)))
		},
		"by their content": func(t *testing.T, dir string) {
			a, b := filepath.Join(dir, a), filepath.Join(dir, b)
			inA, inB := read(t, a), read(t, b)
			must.Succeed(t, errors.Join(os.WriteFile(a, []byte(inB), 0o755), os.WriteFile(b, []byte(inA), 0o755)))
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := keepInCache(t)
			old := time.Now().Add(-time.Hour)
			write(t, filepath.Join(s.Dir, b), "THE PROVIDER")
			for _, name := range []string{a, b, "."} {
				must.Succeed(t, os.Chtimes(filepath.Join(s.Dir, name), time.Time{}, old))
			}
			s.record(t, OpenCache(s.State, s.Root))
			if _, ok := s.inCache(false); !ok {
				t.Fatal("the receipt is no good, so this test shows nothing")
			}
			swap(t, s.Dir)
			must.Succeed(t, os.Chtimes(s.Dir, time.Time{}, old))
			if _, ok := s.inCache(false); ok {
				t.Error("it isn't noticed")
			}
		})
	}
}

// A file that this user writes, and whose mtime this user sets back, shows only in its ctime.
// Where other users can write, no receipt counts.
func TestKnown_LeavesWhatItsUserDatesBackToStrictTimes(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		open  func(s kept) error
		known bool
		modes bool // of Unix
	}{
		"in a cache of its user's":        {func(kept) error { return nil }, true, false},
		"where others write to the file":  {func(s kept) error { return os.Chmod(filepath.Join(s.Dir, "LICENSE"), 0o666) }, false, true},
		"where others write to a package": {func(s kept) error { return os.Chmod(s.Dir, 0o777) }, false, true},
		"where others write to the cache": {func(s kept) error { return os.Chmod(s.Root, 0o777) }, false, true},
		"where others write above":        {func(s kept) error { return os.Chmod(filepath.Dir(s.Root), 0o775) }, false, true},
		"in a sticky directory":           {func(s kept) error { return os.Chmod(filepath.Dir(s.Root), 0o777|os.ModeSticky) }, true, true},
	} {
		if c.modes && runtime.GOOS == "windows" {
			continue
		}
		t.Run(what, func(t *testing.T) {
			s := keepInCache(t)
			if err := c.open(s); err != nil {
				t.Skip(err)
			}
			s.record(t, OpenCache(s.State, s.Root))
			rewrite(t, filepath.Join(s.Dir, "LICENSE"), "FREE")
			rc, ok := s.inCache(false)
			must.Equal(t, ok, c.known)
			must.Equal(t, rc.Moved(), c.known)
			_, ok = s.inCache(true)
			must.Equal(t, ok, false, "strict times don't notice it")
		})
	}
}

// If only mtimes have to be past, a record is made at once.
func TestRecord_WaitsForNoCtimeOfFilesOfItsUser(t *testing.T) {
	s := keepInCache(t)
	rc, _ := s.inCache(false)
	for strict, want := range map[bool]bool{false: true, true: false} {
		now := time.Now()
		moveCtime(t, filepath.Join(s.Dir, "LICENSE"))
		ctx, cancel := cachetest.ContextWithCause(t)
		cancel(cachetest.ErrStopped) // a process that waits makes no receipt
		r := OpenCache(s.State, s.Root)
		r.StrictTimes = strict
		r.File.Remove(packageName)
		r.Record(ctx, func() time.Time { return now }, Pending{Name: packageName, Dir: s.Dir, Receipt: rc, Linked: true})
		must.Equal(t, has(r, packageName), want, "made without waiting, strict", strict)
	}
}

// linkedTarget is a target with hard links to the files of a package.
func linkedTarget(t *testing.T, s kept) (dir string, own *Receipts) {
	t.Helper()
	root := t.TempDir()
	dir = filepath.Join(root, packageName)
	must.Succeed(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	if _, _, err := link.Tree(t.Context(), s.Dir, dir, []link.Mode{link.Hardlink}); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	own = Open(s.State, root)
	own.Record(t.Context(), time.Now, Pending{Name: packageName, Dir: dir, Receipt: Provenance{H1: "h1:widget="}.Receipt(recordOf(t, dir))})
	return dir, own
}

// For a target with the cache's files, only who can write to the cache matters.
func TestHeldBy_AsksOnlyTheCacheWhoCanWrite(t *testing.T) {
	s := keepInCache(t)
	dir, own := linkedTarget(t, s)
	moveCtime(t, filepath.Join(dir, "LICENSE"))
	shared, ok := s.inCache(false)
	if !ok || !own.HeldBy(shared, packageName, dir, time.Now()) || !shared.IsLinkedIn(dir) {
		t.Fatal("the target's files aren't seen to be the cache's")
	}
	must.Succeed(t, errors.Join(os.Chmod(filepath.Dir(dir), 0o777), os.Chmod(dir, 0o777)))
	must.Equal(t, own.HeldBy(shared, packageName, dir, time.Now()), false, "what a directory holds that others can write to is taken from a receipt")
	must.Equal(t, shared.IsLinkedIn(dir), true, "they aren't the cache's any more because others can write to the target's directories")
}

// A file that isn't the cache's own inode doesn't use the cache's receipt.
func TestHeldBy_NoticesFilesThatArentTheCaches(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(dir, file string) error{
		"a copy with all its times": func(_, file string) error {
			info, err := os.Lstat(file)
			content, readErr := os.ReadFile(file)
			return errors.Join(err, readErr, os.WriteFile(file+".x", content, info.Mode()), os.Chtimes(file+".x", time.Time{}, info.ModTime()), os.Rename(file+".x", file))
		},
		"another file of the package": func(dir, file string) error {
			return errors.Join(os.Remove(file), os.Link(filepath.Join(dir, widgetFile), file))
		},
		"one more": func(_, file string) error { return os.Link(file, file+".more") },
		"a link": func(_, file string) error {
			return errors.Join(os.Rename(file, file+".x"), os.Symlink(file+".x", file))
		},
		"a directory":   func(_, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) },
		"none":          func(_, file string) error { return os.Remove(file) },
		"a renamed one": func(_, file string) error { return os.Rename(file, file+".x") },
	} {
		t.Run(what, func(t *testing.T) {
			s := keepInCache(t)
			dir, own := linkedTarget(t, s)
			if err := change(dir, filepath.Join(dir, "LICENSE")); err != nil {
				t.Skip(err)
			}
			shared, ok := s.inCache(false)
			if !ok {
				t.Fatal("the cache's receipt doesn't count, so this test shows nothing")
			}
			must.Equal(t, own.HeldBy(shared, packageName, dir, time.Now()), false)
			must.Equal(t, shared.IsLinkedIn(dir), false)
		})
	}
}

// Each field that says which file is at a path matters alone.
func TestStandsFor_ComparesDeviceAndInode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "x")
	stat := must.Get(Lstat(path))(t)
	if stat.Inode == 0 {
		t.Skip("files have no numbers here")
	}
	for i, change := range []func(*PathStat){
		func(s *PathStat) { s.Device++ }, func(s *PathStat) { s.Inode++ }, func(s *PathStat) { s.Size++ },
		func(s *PathStat) { s.Modified++ }, func(s *PathStat) { s.Mode ^= 1 }, func(s *PathStat) { s.Name = "other" },
	} {
		other := stat
		change(&other)
		must.Equal(t, other.standsFor(stat), false, i, other)
	}
	other := stat
	other.Changed++
	must.Equal(t, other.standsFor(stat), true, "the ctime alone makes it another file")
}

func TestTreeSize_CountsHardLinksOnce(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
	write(t, filepath.Join(from, "docs", "page"), strings.Repeat("x", 1<<16))
	seen := map[Inode]bool{}
	logical, physical := TreeSize(from, seen)
	must.Equal(t, logical, 1<<16)
	must.Equal(t, physical >= logical/2, true)
	if _, _, err := link.Tree(t.Context(), from, to, []link.Mode{link.Hardlink}); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	for dir, want := range map[string]int64{to: logical, to + ".absent": 0} {
		again, more := TreeSize(dir, seen)
		must.Equal(t, again, want)
		must.Equal(t, more, 0)
	}
}
