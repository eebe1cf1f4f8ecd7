package providercache_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// sharedMachine has a named cache that every user may write to.
func sharedMachine(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.Named = true
	return m
}

// othersChange changes a package that every user can write to: its
// program, and its directory. There is no other user here.
var othersChange = map[string]func(t *testing.T, file, dir string){
	"written over": func(t *testing.T, file, _ string) { write(t, file, "evil") },
	"another file, as old": func(t *testing.T, file, _ string) {
		info := must.Get(os.Stat(file))(t)
		othersReplace(t, file)
		succeed(t, os.Chtimes(file, time.Time{}, info.ModTime()))
	},
	"the file and one beside": func(t *testing.T, _, dir string) { write(t, filepath.Join(dir, "more"), "evil") },
}

// othersReplace puts another file in a file's place.
func othersReplace(t *testing.T, file string) {
	t.Helper()
	succeed(t, errors.Join(os.WriteFile(file+".x", []byte("evil"), 0o755), os.Rename(file+".x", file)))
}
