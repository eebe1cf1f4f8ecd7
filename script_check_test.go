package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// snapshotKey is under which a session keeps what was where.
type snapshotKey struct{}

// snapshot is what there was, by path.
type snapshot struct{ files map[string]string }

// takeSnapshot remembers all files and directories of the session.
func takeSnapshot(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 0 {
		ts.Fatalf("usage: snapshot")
	}
	ts.Value(snapshotKey{}).(*snapshot).files = filesOf(ts)
}

// checkUntouched compares them with what was remembered. A file that was made
// and removed again shows by the time of its directory.
func checkUntouched(ts *testscript.TestScript, _ bool, _ []string) {
	was, is := ts.Value(snapshotKey{}).(*snapshot).files, filesOf(ts)
	if len(was) == 0 {
		ts.Fatalf("there is no snapshot")
	}
	for _, path := range slices.Sorted(maps.Keys(is)) {
		if was[path] != is[path] {
			ts.Fatalf("%s was %q and is %q", path, was[path], is[path])
		}
	}
	if len(was) != len(is) {
		ts.Fatalf("there are %d files, there were %d", len(is), len(was))
	}
}

func filesOf(ts *testscript.TestScript) map[string]string {
	files := map[string]string{}
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		files[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if !d.IsDir() {
			files[path] += fmt.Sprint(" ", info.Size())
		}
		return err
	}))
	return files
}

// runForCode runs a program that has to end with an exit code.
func runForCode(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("the exit code is %d, not %d", code, want)
	}
}
