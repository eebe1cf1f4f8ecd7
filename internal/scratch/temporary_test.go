package scratch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// A killed run leaves modules, and maybe a key for ssh, in the temporary directory. The next run
// removes them.
func TestTemporary_RemovesWhatKilledRunsHaveLeft(t *testing.T) {
	temporary := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP"} { // of Unix and of Windows
		t.Setenv(name, temporary)
	}
	killed := must.Get(Make(os.TempDir()))(t)
	must.Write(t, filepath.Join(killed.Path, "key"), "secret")
	if !killed.Abandon() { // there are no locks here: age tells
		long := time.Now().Add(-AbandonedAfter - time.Minute)
		must.Succeed(t, os.Chtimes(killed.Path, long, long))
	}
	other := must.Get(Make(os.TempDir()))(t)
	own := must.Get(Temporary())(t)
	must.Refuse(os.Lstat(killed.Path))(t, "what a killed run had left is still there")
	for _, dir := range []*Dir{other, own} {
		if info := must.Get(os.Lstat(dir.Path))(t); runtime.GOOS != "windows" {
			must.Equal(t, info.Mode().Perm(), 0o700, dir.Path)
		}
		dir.Remove()
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Another user could replace a directory with a symlink while root removes its content.
func TestTemporary_LeavesOtherUsersAlone(t *testing.T) {
	parent, now := t.TempDir(), time.Now()
	left := filepath.Join(parent, Prefix+"left")
	long := now.Add(-AbandonedAfter - time.Minute)
	must.Succeed(t, errors.Join(os.Mkdir(left, 0o700), os.Chtimes(left, long, long)))
	sweep(parent, now, func(fs.FileInfo) bool { return false })
	must.Get(os.Lstat(left))(t)
	info, err := os.Lstat(left)
	if err != nil || !ownedByUser(info) {
		t.Fatalf("it isn't this user's: %v", err)
	}
	sweep(parent, now, ownedByUser)
	must.Refuse(os.Lstat(left))(t, "this user's is there")
}

func TestDir_RemoveWithinLeavesTheRestToASweep(t *testing.T) {
	parent := t.TempDir()
	for _, patience := range []time.Duration{time.Minute, 0} {
		dir := must.Get(Make(parent))(t)
		must.Succeed(t, os.MkdirAll(filepath.Join(dir.Path, "a", "b"), 0o755))

		dir.RemoveWithin(patience)
		if patience == 0 {
			for range 1000 {
				Sweep(parent, time.Now())
				if _, err := os.Lstat(dir.Path); err != nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
		}

		must.Fail(t, must.ErrorOf(os.Lstat(dir.Path)), os.ErrNotExist)
	}
}
