package filelock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestTry_ExcludesOtherOpenFilesUntilItIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	held, err := Try(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock file: %v, %v", info, err)
	}
	if again, err := Try(path, 0o600); !errors.Is(err, ErrHeld) || again != nil {
		t.Errorf("a second lock: %v, %v", again, err)
	}
	if again, err := TryExisting(path); !errors.Is(err, ErrHeld) || again != nil {
		t.Errorf("a second lock of the existing file: %v, %v", again, err)
	}
	held.Close()
	again, err := TryExisting(path)
	if err != nil {
		t.Fatalf("after it was closed: %v", err)
	}
	again.Close()
}

func TestTry_SaysWhereThereIsNoLock(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "a.lock")
	if _, err := Try(missing, 0o600); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a directory that isn't there: %v", err)
	}
	if _, err := TryExisting(filepath.Join(t.TempDir(), "a.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
}

func TestTryExisting_FollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if file, err := TryExisting(link); err == nil && Removable {
		file.Close()
		t.Error("a link was followed")
	}
}

func TestWait_ReturnsWhenTheLockIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	synctest.Test(t, func(t *testing.T) {
		held, err := Try(path, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		time.AfterFunc(time.Second, func() { held.Close() })
		waited, err := Wait(t.Context(), path, 0o600, Poll{2 * time.Millisecond, 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < time.Second || took > 1100*time.Millisecond {
			t.Errorf("waited %s", took)
		}
		if _, err := Try(path, 0o600); !errors.Is(err, ErrHeld) {
			t.Errorf("what was waited for isn't held: %v", err)
		}
		waited.Close()
		if file, err := Try(path, 0o600); err != nil {
			t.Errorf("after it was closed: %v", err)
		} else {
			file.Close()
		}
	})
}

func TestWait_EndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	held, err := Try(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if file, err := Wait(ctx, path, 0o600, Poll{time.Hour, time.Hour}); !errors.Is(err, cause) || file != nil {
		t.Errorf("got %v", err)
	}
}

func TestWait_DoesNotMindThatThereIsNoLock(t *testing.T) {
	held, err := Wait(t.Context(), filepath.Join(t.TempDir(), "missing", "a.lock"), 0o600, Poll{time.Hour, time.Hour})
	if err != nil || held != nil {
		t.Fatalf("got %v, %v", held, err)
	}
	held.Close() // does no harm
}
