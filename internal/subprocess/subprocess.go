// Package subprocess starts the programs that help this one: git, hg, credential helpers and the like. It is
// shared by several packages of this module, and is no API for others.
//
// Many programs look for settings where they run, and some of these settings name further programs. The
// working directory may be a stranger's repository. So no helper runs there, and none is looked for there.
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

// Command prepares a run of a helper program, which ends with ctx. It runs in dir; "": in the root of the file
// system, where only administrators put files. environ is its environment; nil: that of this process.
//
// A name without a directory is looked for on the PATH of the environment. If it isn't there, the error is an
// exec.ErrNotFound. Relative directories of PATH lead into the working directory: the program doesn't get them.
func Command(ctx context.Context, environ []string, dir, name string, args ...string) (*exec.Cmd, error) {
	env, dirs := absolutePath((&exec.Cmd{Env: environ}).Environ())
	file, err := find(name, dirs)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.WaitDelay = time.Second // when it has ended, what it has started may hold its output open
	cmd.Dir = cmp.Or(dir, filepath.VolumeName(file)+string(filepath.Separator))
	cmd.Env = append(env, "PWD="+cmd.Dir)
	if runtime.GOOS == "windows" { // where programs look in their directory before they look at PATH
		cmd.Env = append(cmd.Env, "NoDefaultCurrentDirectoryInExePath=1")
	}
	return cmd, nil
}

// Head keeps the first bytes that are written to it. It takes the others as well, so that the program that writes them
// doesn't wait for ever.
type Head struct {
	Limit int
	Kept  []byte
	Over  bool // there were more
}

// Write implements io.Writer.
func (h *Head) Write(p []byte) (int, error) {
	room := h.Limit - len(h.Kept)
	h.Over = h.Over || len(p) > room
	h.Kept = append(h.Kept, p[:min(room, len(p))]...)
	return len(p), nil
}

// Printable is the text without what a terminal could obey.
func (h *Head) Printable() string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, string(h.Kept)))
}

// Tail keeps the last bytes that are written to it.
type Tail struct {
	Limit int
	Kept  []byte
	Over  bool // there were more
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.Kept = append(t.Kept, p...)
	if over := len(t.Kept) - t.Limit; over > 0 {
		t.Kept, t.Over = slices.Delete(t.Kept, 0, over), true
	}
	return len(p), nil
}

// Variable is the value of a variable in an environment, that of the last entry; "": it isn't set.
func Variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && SameName(key, name) {
			return value
		}
	}
	return ""
}

// SameName reports whether two names are of one variable, which on Windows don't differ by case.
func SameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// absolutePath takes the relative directories out of the PATH of an environment, and returns the others too.
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

// find returns the file of a program.
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
