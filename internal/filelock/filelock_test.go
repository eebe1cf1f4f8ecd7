package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTry_ExcludesOtherOpenFilesUntilItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	held := must.Get(Try(path))(t)
	if runtime.GOOS != "windows" { // where access lists say that
		must.Equal(t, must.Get(os.Stat(path))(t).Mode().Perm(), 0o600)
	}
	if again, err := Try(path); !errors.Is(err, ErrHeld) || again != nil {
		t.Errorf("a second lock: %v, %v", again, err)
	}
	if again, err := TryExisting(path); !errors.Is(err, ErrHeld) || again != nil {
		t.Errorf("a second lock of the existing file: %v, %v", again, err)
	}
	held.Close()
	must.Get(TryExisting(path))(t).Close()
}

func TestTry_SaysWhereThereIsNoLock(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "a.lock")
	if _, err := Try(missing); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a directory that isn't there: %v", err)
	}
	must.Fail(t, must.ErrorOf(TryExisting(filepath.Join(t.TempDir(), "a.lock"))), os.ErrNotExist)
}

func TestWait_ReturnsWhenTheLockIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	synctest.Test(t, func(t *testing.T) {
		held := must.Get(Try(path))(t)
		start := time.Now()
		time.AfterFunc(time.Second, func() { held.Close() })
		waited := must.Get(Wait(t.Context(), path, Poll{First: 2 * time.Millisecond, Last: 100 * time.Millisecond, Limit: time.Hour}))(t)
		if took := time.Since(start); took < time.Second || took > 1100*time.Millisecond {
			t.Errorf("waited %s", took)
		}
		must.Fail(t, must.ErrorOf(Try(path)), ErrHeld)
		waited.Close()
		must.Get(Try(path))(t, "after it was closed").Close()
	})
}

func TestWait_EndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	held := must.Get(Try(path))(t)
	defer held.Close()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if file, err := Wait(ctx, path, Poll{time.Hour, time.Hour, time.Hour}); !errors.Is(err, cause) || file != nil {
		t.Errorf("got %v", err)
	}
}

func TestWait_DoesNotMindThatThereIsNoLock(t *testing.T) {
	held, err := Wait(t.Context(), filepath.Join(t.TempDir(), "missing", "a.lock"), Poll{time.Hour, time.Hour, time.Hour})
	if err != nil || held != nil {
		t.Fatalf("got %v, %v", held, err)
	}
	held.Close() // does no harm
}

func TestTry_FollowsNoLinkAndChangesNothingButLockFiles(t *testing.T) {
	dir := t.TempDir()
	target, link, alien := filepath.Join(dir, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "alien")
	must.Succeed(t, os.WriteFile(alien, []byte("precious"), 0o600))
	if file, err := Try(alien); err == nil {
		file.Close()
	}
	if got, _ := os.ReadFile(alien); string(got) != "precious" {
		t.Errorf("the content of what isn't a lock file is %q", got)
	}
	if !Removable {
		return
	}
	if err := must.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	must.Refuse(Try(link))(t, "a link was followed")
	must.Refuse(os.Lstat(target))(t, "a file was made at the other end of a link")
	must.Write(t, target, "")
	must.Refuse(TryExisting(link))(t, "a link to a file was followed")
}

func TestWait_EndsAndSaysWhoHoldsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	synctest.Test(t, func(t *testing.T) {
		held := must.Get(Try(path))(t)
		defer held.Close()
		start := time.Now()
		_, err := Wait(t.Context(), path, Poll{First: time.Millisecond, Last: time.Second, Limit: time.Minute})
		busy := must.As[*HeldError](t, err)
		must.Fail(t, err, ErrHeld)
		if took := time.Since(start); took < time.Minute || took > 62*time.Second {
			t.Errorf("waited %s", took)
		}
		if want := fmt.Sprintf("process %d on ", os.Getpid()); Removable && !strings.HasPrefix(busy.Holder, want) {
			t.Errorf("held by %q, want %q", busy.Holder, want)
		}
	})
}
