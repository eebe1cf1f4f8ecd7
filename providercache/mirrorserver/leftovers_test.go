package mirrorserver_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// TestHandler_RemovesWhatAKilledServerLeft: the archives that were arriving then are in its temporary directory.
func TestHandler_RemovesWhatAKilledServerLeft(t *testing.T) {
	m := newMirroring(t)
	killed := must.Get(scratch.Make(m.opts.Temporary))(t)
	must.Write(t, filepath.Join(killed.Path, "archive.zip"), "the first half")
	running := must.Get(scratch.Make(m.opts.Temporary))(t)
	defer running.Remove()
	if !killed.Abandon() { // there are no locks here: age tells
		long := time.Now().Add(-scratch.AbandonedAfter - time.Minute)
		must.Succeed(t, os.Chtimes(killed.Path, long, long))
	}

	m.start()
	must.EqualSlices(t, entriesOf(t, m.opts.Temporary), []string{filepath.Base(running.Path)})
}

// entriesOf lists a directory.
func entriesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, entry := range must.Get(os.ReadDir(dir))(t) {
		names = append(names, entry.Name())
	}
	return names
}
