package mirror_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// pass lets time pass for a mirror's indexes.
func (m *mirroring) pass(t *testing.T, passed time.Duration) {
	t.Helper()
	indexes := must.Get(filepath.Glob(filepath.Join(m.dir, "*", "*", "*", "*.json")))(t)
	for _, path := range indexes {
		info := must.Get(os.Stat(path))(t)
		succeed(t, os.Chtimes(path, time.Time{}, info.ModTime().Add(-passed)))
	}
}

// inBothTrees runs a test for a directory and for a bucket.
func inBothTrees(t *testing.T, test func(*testing.T, *mirroring)) {
	t.Parallel()
	t.Run("directory", func(t *testing.T) { test(t, newMirroring(t)) })
	t.Run("bucket", func(t *testing.T) {
		m := newMirroring(t)
		m.to = mirror.Bucket(blob.NewDirectory(m.dir))
		test(t, m)
	})
}

// TestMirrorPrune_PruneWaitsForThoseWhoHaveReadTheIndexes: at first unwanted
// archives stay with their signed documents, but aren't listed.
func TestMirrorPrune_PruneWaitsForThoseWhoHaveReadTheIndexes(t *testing.T) {
	inBothTrees(t, pruneWaitsForThoseWhoHaveReadTheIndexes)
}

func pruneWaitsForThoseWhoHaveReadTheIndexes(t *testing.T, m *mirroring) {
	m.fill("widget@1.0.0", "widget@1.1.0", "gadget")
	there := m.files()
	m.opts.Prune, m.opts.PruneGrace, m.opts.Platforms = true, time.Hour, onLinux
	m.pass(t, 24*time.Hour) // the indexes have listed all of it since then
	for _, passed := range []time.Duration{0, 59 * time.Minute} {
		m.pass(t, passed)
		result := m.fill("widget@1.1.0")
		if len(result.Pruned) != 0 || len(result.Waiting) != 3+3+2 || !slices.IsSorted(result.Waiting) {
			t.Errorf("after %s: removed %q, waiting %q", passed, result.Pruned, result.Waiting)
		}
		must.EqualSlices(t, m.files(), there, passed)
		for name, gone := range map[string]string{"widget/index.json": `"1.0.0"`, "widget/1.0.0.json": "zip", "widget/1.1.0.json": "darwin", "gadget/index.json": `.0"`} {
			must.NotContain(t, read(t, m.file(name)), gone, passed, name)
		}
	}
	m.pass(t, 2*time.Minute)
	result := m.fill("widget@1.1.0")
	left := slices.Concat([]string{"widget/1.1.0.json", "widget/index.json"}, documents("widget", "1.1.0"),
		[]string{"widget/terraform-provider-widget_1.1.0_linux_amd64.zip"})
	must.EqualSlices(t, m.files(), left)
	must.Equal(t, len(result.Pruned), len(there)-len(left))
	must.Len(t, result.Waiting, 0)
}

// TestMirrorPrune_WhatIsWantedAgainIsListedAgain: nothing is fetched for that, and the waiting
// time begins again.
func TestMirrorPrune_WhatIsWantedAgainIsListedAgain(t *testing.T) {
	m := newMirroring(t)
	m.opts.Prune, m.opts.PruneGrace = true, time.Hour
	both := want("widget@1.0.0", "widget@1.1.0")
	must.Get(m.run(both...))(t)
	there, index := m.files(), read(t, m.file("widget/1.0.0.json"))
	must.Get(m.run(both[1:]...))(t)
	m.pass(t, 2*time.Hour)
	result, err := m.run(both...)
	succeed(t, err)
	if read(t, m.file("widget/1.0.0.json")) != index || len(result.Pruned)+len(result.Waiting) != 0 || result.Packages[0].State != event.Present {
		t.Errorf("got %+v", result)
	}
	if result, err = m.run(both[1:]...); err != nil || len(result.Pruned) != 0 || !slices.Equal(m.files(), there) {
		t.Errorf("%v, removed %q", err, result.Pruned)
	}
}

// TestMirrorPrune_PruneGoesOnWhereItWasKilled: files that no
// client can have read about are removed at once.
func TestMirrorPrune_PruneGoesOnWhereItWasKilled(t *testing.T) {
	inBothTrees(t, pruneGoesOnWhereItWasKilled)
}

func pruneGoesOnWhereItWasKilled(t *testing.T, m *mirroring) {
	m.opts.Prune, m.opts.PruneGrace = true, time.Hour
	m.fill("widget@1.0.0", "widget@1.1.0")
	for _, text := range []string{"1.0.0.json", "terraform-provider-widget_1.0.0_SHA256SUMS"} {
		succeed(t, os.Remove(m.file("widget/"+text)))
	}
	result := m.fill("widget@1.1.0")
	for _, name := range m.files() {
		must.NotContain(t, name, "1.0.0", result)
	}
}
