package subprocess

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// The working directory is a stranger's: it has a program of the name, and PATH contains it.
func TestCommand_LooksForNothingInTheWorkingDirectory(t *testing.T) {
	if !peertest.RunsScripts() {
		t.Skip("the program is a shell script")
	}
	work, bin := t.TempDir(), t.TempDir()
	for _, dir := range []string{work, filepath.Join(work, "bin"), bin} {
		must.Succeed(t, errors.Join(os.MkdirAll(dir, 0o755), peertest.WriteProgram(filepath.Join(dir, "aid"), []byte("#!/bin/sh\necho \"$0 $PWD $PATH\"; pwd\n"))))
	}
	t.Chdir(work)
	environ := []string{"PATH=" + strings.Join([]string{".", "", "bin", bin, "./bin"}, string(os.PathListSeparator)), "PWD=" + work, "x"}
	for dir, want := range map[string]string{"": "/", bin: bin} {
		cmd, err := Command(t.Context(), environ, dir, "aid")
		must.Succeed(t, err)
		said, err := cmd.Output()
		if runtime.GOOS == "windows" { // where the script has the paths of another system
			must.Succeed(t, err)
			must.Equal(t, strings.TrimSuffix(cmd.Path, ".exe"), filepath.Join(bin, "aid"))
			continue
		}
		if want = bin + "/aid " + want + " " + bin + "\n" + want + "\n"; string(said) != want || err != nil {
			t.Errorf("in %q it says %q, %v, want %q", dir, said, err, want)
		}
	}
	for _, path := range []string{"PATH=." + string(os.PathListSeparator) + "bin", "PATH=", "x=y"} {
		must.Fail(t, must.ErrorOf(Command(t.Context(), []string{path}, "", "aid")), exec.ErrNotFound, path)
	}
}

// A path is used as it is, even if it is relative to the working directory.
func TestCommand_PathsAndThisProcessesEnvironment(t *testing.T) {
	t.Setenv("AID", "x")
	cmd, err := Command(t.Context(), nil, "", "./aid", "a")
	here, _ := os.Getwd()
	if err != nil || filepath.Dir(cmd.Path) != here || filepath.Clean(cmd.Dir) == here || !slices.Contains(cmd.Env, "AID=x") || !slices.Equal(cmd.Args[1:], []string{"a"}) {
		t.Errorf("%+v, %v", cmd, err)
	}
}

func TestHead_PrintableLeavesOutWhatATerminalObeys(t *testing.T) {
	head := &Head{Kept: []byte("abort: \x1b]0;evil\a\u009b31mno such\r\nhost\u202e \n")}
	must.Equal(t, head.Printable(), "abort: ]0;evil31mno such\nhost")
}
