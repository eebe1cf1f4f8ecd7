// Package subprocess starts helper programs: git, hg, credential helpers and the like. It is shared by
// several packages of this module; it isn't an API for others.
//
// Many programs read settings in their working directory, and some of these settings name further programs.
// This process's working directory may be a stranger's repository, so helpers neither run there nor are
// looked up there.
package subprocess

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Command prepares a run of a helper program, which is killed when ctx is done. It runs in dir; "" means the
// root of the file system, where only administrators put files. environ is its environment; nil means that of
// this process.
//
// A name without a directory is looked up on the PATH of the environment. If it isn't found, the error matches
// exec.ErrNotFound. Relative directories of PATH are relative to the working directory, so they are removed
// from it, for the program, too.
func Command(ctx context.Context, environ []string, dir, name string, args ...string) (*exec.Cmd, error) {
	env, dirs := absolutePath((&exec.Cmd{Env: environ}).Environ())
	file, err := find(name, dirs)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.WaitDelay = time.Second // after its end, a child of it may keep its output open
	cmd.Dir = cmp.Or(dir, filepath.VolumeName(file)+string(filepath.Separator))
	cmd.Env = append(env, "PWD="+cmd.Dir)
	if runtime.GOOS == "windows" { // programs there search their working directory before PATH
		cmd.Env = append(cmd.Env, "NoDefaultCurrentDirectoryInExePath=1")
	}
	return cmd, nil
}

// Head keeps the first Limit bytes written to it. It discards the others without an error, so that the writing program
// doesn't block.
type Head struct {
	Limit int
	Kept  []byte
	Over  bool // more bytes were written
}

// Write implements io.Writer.
func (h *Head) Write(p []byte) (int, error) {
	room := h.Limit - len(h.Kept)
	h.Over = h.Over || len(p) > room
	h.Kept = append(h.Kept, p[:min(room, len(p))]...)
	return len(p), nil
}

// Printable returns the text without control characters, which a terminal could interpret.
func (h *Head) Printable() string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, string(h.Kept)))
}

// Tail keeps the last Limit bytes written to it.
type Tail struct {
	Limit int
	Kept  []byte
	Over  bool // more bytes were written
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.Kept = append(t.Kept, p...)
	if over := len(t.Kept) - t.Limit; over > 0 {
		t.Kept, t.Over = slices.Delete(t.Kept, 0, over), true
	}
	return len(p), nil
}

// Variable returns the value of a variable in an environment, whose last entry counts, or "" if it
// isn't set.
func Variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && SameName(key, name) {
			return value
		}
	}
	return ""
}

// SameName reports whether two names are of the same variable. On Windows case doesn't matter.
func SameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// absolutePath removes the relative directories from the PATH of an environment, and returns the remaining
// ones in dirs.
func absolutePath(environ []string) (env, dirs []string) {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if SameName(name, "PATH") {
			dirs = nil
			for _, dir := range filepath.SplitList(value) {
				if filepath.IsAbs(dir) {
					dirs = append(dirs, dir)
				}
			}
			entry = name + "=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
		env = append(env, entry)
	}
	return env, dirs
}

// find returns the path of a program's file.
func find(name string, dirs []string) (string, error) {
	if filepath.Base(name) != name {
		return filepath.Abs(name)
	}
	for _, dir := range dirs {
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}
