package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestMirror_IsWholeWheneverItIsKilled kills providers mirror at random times, again and again,
// while a client reads the mirror. All archives that an index lists exist, with the index's hashes; at
// the end, the mirror is complete.
func TestMirror_IsWholeWheneverItIsKilled(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	registry := harness.NewLockRegistry(t, nil)
	env := harness.Env(t, harness.Redirect(t, registry, "registry.terraform.io")...)
	program, work, mirror := harness.Tfdeps(t), t.TempDir(), filepath.Join(t.TempDir(), "mirror")
	must.Write(t, filepath.Join(work, "main.tf"), harness.LockConfig("a", "", "b", "", "c", "", "d", "", "e", ""))
	args := append([]string{"providers", "mirror", "-versions=all"}, append(strings.Fields(harness.FivePlatforms), mirror)...)
	registry.Break("archive", providertest.Fault{Pause: 5 * time.Millisecond})

	done, read := make(chan struct{}), make(chan error, 1)
	go func() { read <- readUntil(done, mirror) }()
	killed := 0
	for range peertest.Rounds(12, 40) {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = work, env
		must.Succeed(t, cmd.Start())
		timer := time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		}
		timer.Stop()
		if rand.IntN(4) == 0 { // otherwise nothing would be left to do
			must.Succeed(t, os.RemoveAll(mirror+"-old"))
			_ = os.Rename(mirror, mirror+"-old")
		}
	}
	harness.Run(t, work, env, append([]string{program}, args...)...)
	close(done)
	must.Succeed(t, <-read)
	must.Equal(t, must.Get(readMirror(mirror))(t), 75)
	if killed == 0 {
		t.Error("no process was killed")
	}
	// A process that is killed before it holds its file lock leaves a directory that is only removed
	// when it is old.
	left, _ := filepath.Glob(filepath.Join(mirror, ".tfdeps-*/*"))
	left = slices.DeleteFunc(left, func(path string) bool { return filepath.Base(path) == ".lock.new" })
	must.Len(t, left, 0)
}

// readUntil reads a mirror as its clients do, until done is closed. The mirror may be missing,
// while it is moved away.
func readUntil(done chan struct{}, mirror string) error {
	for {
		select {
		case <-done:
			return nil
		case <-time.After(2 * time.Millisecond): // the writers need the processor, too
		}
		before, _ := os.Stat(mirror)
		_, err := readMirror(mirror)
		after, _ := os.Stat(mirror)
		if err != nil && before != nil && after != nil && os.SameFile(before, after) {
			return err
		}
	}
}

// readMirror follows the indexes of a mirror to all archives.
func readMirror(mirror string) (archives int, err error) {
	indexes, _ := filepath.Glob(filepath.Join(mirror, "*/*/*/index.json"))
	for _, index := range indexes {
		var listed struct{ Versions map[string]struct{} }
		if err := readDocument(index, &listed); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return 0, err
		}
		for version := range listed.Versions {
			n, err := readVersion(filepath.Join(filepath.Dir(index), version+".json"))
			if err != nil {
				return 0, err
			}
			archives += n
		}
	}
	return archives, nil
}

func readVersion(path string) (archives int, err error) {
	var document struct {
		Archives map[string]struct {
			URL    string
			Hashes []string
		}
	}
	if err := readDocument(path, &document); err != nil {
		return 0, err
	}
	for _, archive := range document.Archives {
		h1, err := dirhash.HashZip(filepath.Join(filepath.Dir(path), archive.URL), dirhash.Hash1)
		if err != nil || len(archive.Hashes) != 1 || archive.Hashes[0] != h1 {
			return 0, fmt.Errorf("%s lists %s with %q, which has %s: %w", path, archive.URL, archive.Hashes, h1, err)
		}
	}
	return len(document.Archives), nil
}

func readDocument(path string, into any) error {
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	return err
}
