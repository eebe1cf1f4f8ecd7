package fetch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestStore_AStoreIsSweptByAge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	old := now.Add(-time.Hour)
	for name, at := range map[string]time.Time{
		"archives/old": old, "archives/new": now, "pins/old": old, "answers/new": now, "git/a.git.lock": old,
		"git/old.git/HEAD": old, "git/new.git/HEAD": old, "git/new.git/refs/commits/1": now, "git/left.git.gone/HEAD": old,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		for _, err := range []error{os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("12345"), 0o600), os.Chtimes(path, at, at)} {
			must.Succeed(t, err)
		}
	}
	for _, name := range []string{"git/old.git", "git/new.git", "git/new.git/refs", "git/left.git.gone"} {
		must.Succeed(t, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	want := Swept{Entries: 3, Bytes: 15}
	for _, dryRun := range []bool{true, false} {
		must.Equal(t, SweepStore(dir, now.Add(-time.Minute), dryRun), want)
	}
	for name, there := range map[string]bool{
		"archives/old": false, "archives/new": true, "pins/old": false, "answers/new": true, "git/a.git.lock": true,
		"git/old.git": false, "git/old.git.gone": false, "git/left.git.gone": false, "git/new.git/HEAD": true,
	} {
		must.Equal(t, must.ErrorOf(os.Stat(filepath.Join(dir, name))) == nil, there, name)
	}
	must.Equal(t, SweepStore(filepath.Join(dir, "none"), now, false), (Swept{}), "a store that isn't there")
}
