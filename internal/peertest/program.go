// Package peertest finds the programs that tests compare with, and selects which of many cases run.
package peertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Test has the methods of *testing.T, *testing.B and *testing.F with which a test ends.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// LookProgram finds a program that a test runs or compares with: the first of names that is on PATH
// or is a path. TFDEPS_PEER_TERRAFORM and TFDEPS_PEER_TOFU replace the programs terraform and tofu.
// If no program is found, the test is skipped, or fails with TFDEPS_REQUIRE_PEERS=1. A short test
// (-short) of terraform or tofu is skipped.
func LookProgram(t Test, names ...string) (path string) {
	t.Helper()
	for _, name := range names {
		if (name == "terraform" || name == "tofu") && flagValue("test.short") == "true" {
			t.Skipf("a short test doesn't run %s", name)
			return ""
		}
		path, err := PeerProgram(name)
		if err == nil {
			return path
		}
		if os.Getenv(peerVariable(name)) != "" {
			t.Fatalf("%s names no program: %v", peerVariable(name), err)
			return ""
		}
	}
	if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
		t.Fatalf("TFDEPS_REQUIRE_PEERS=1, and %s is not on PATH", names[0])
	}
	t.Skipf("%s is not on PATH", names[0])
	return ""
}

// RunsScripts reports whether the system has a shell and the programs that scripts start. Windows has them only under
// Wine: there TFDEPS_TEST_PROGRAMS is a directory with programs that start those of the system below
// (testdata/wine/native).
func RunsScripts() bool { return runtime.GOOS != "windows" || os.Getenv("TFDEPS_TEST_PROGRAMS") != "" }

// ScriptPath returns a path for such programs: under Wine, C: is the directory in TFDEPS_TEST_DRIVE_C, and Z: is /.
func ScriptPath(path string) string {
	drive, volume := os.Getenv("TFDEPS_TEST_DRIVE_C"), filepath.VolumeName(path)
	if drive == "" {
		return path
	}
	if volume == "Z:" {
		drive = ""
	}
	return drive + filepath.ToSlash(strings.TrimPrefix(path, volume))
}

// WriteProgram writes a program for a test to start, such as a script. It waits for processes that are being started: one that
// inherited the open file would prevent the program's start ("text file busy"). If Windows runs scripts, a program PATH.exe
// starts the script.
func WriteProgram(path string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	err := os.WriteFile(path, content, 0o755)
	if err == nil && runtime.GOOS == "windows" && strings.HasPrefix(string(content), "#!") {
		if content, err = os.ReadFile(filepath.Join(os.Getenv("TFDEPS_TEST_PROGRAMS"), "script.exe")); err == nil {
			err = errors.Join(os.WriteFile(path+".exe", content, 0o755), exec.Command("sh", "-c", `chmod +x "$1"`, "sh", path).Run())
		}
	}
	return err
}

// AwaitStarts waits for processes that are being started. Later ones don't inherit files that are
// closed already, so such a file can be run.
func AwaitStarts() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// PeerProgram returns the path of a program: that in TFDEPS_PEER_<NAME>, or else the one on PATH.
func PeerProgram(name string) (path string, err error) {
	if given := os.Getenv(peerVariable(name)); given != "" {
		if path, err = exec.LookPath(given); err == nil {
			path, err = filepath.Abs(path) // tests run it in other directories
		}
		return path, err
	}
	return exec.LookPath(name)
}

// peerVariable returns the variable that replaces a program.
func peerVariable(name string) string { return "TFDEPS_PEER_" + strings.ToUpper(name) }

// LookTerraform is LookProgram for a real terraform that must trust a server's CA, which it does if
// it reads SSL_CERT_FILE; on macOS and Windows it doesn't.
func LookTerraform(t Test) (path string) {
	t.Helper()
	if runtime.GOOS == "darwin" || !RunsScripts() {
		t.Skipf("the real terraform doesn't read SSL_CERT_FILE on this system")
		return ""
	}
	return LookProgram(t, "terraform")
}

// Command returns a run of terraform or tofu in a directory, without the user's settings; env overrides them.
func Command(ctx context.Context, program, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=" + os.DevNull, "TF_DATA_DIR=", "TF_CLI_ARGS="}, env)
	return cmd
}

// OneInFive reports whether a case is in the fifth of a test's cases that runs when not all do. It
// is the same fifth every time.
func OneInFive(name string) bool { return isIn(0, 5, name) }

// isIn reports whether a name belongs to a part, from 0 on, of so many parts of all names.
func isIn(part, parts uint32, name string) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return sum.Sum32()%parts == part
}

// FirstIfShort returns the first n cases of a short test (-short), otherwise all of them.
func FirstIfShort[Case any](n int, cases ...Case) []Case {
	if flagValue("test.short") == "true" {
		return cases[:min(n, len(cases))]
	}
	return cases
}

// MoreAtOnce doubles the number of parallel tests, unless -parallel is given, and lets the garbage collector run less often, unless
// GOGC is set. TestMain calls it in packages whose tests wait for programs and servers. It parses the flags.
func MoreAtOnce() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
}

// flagValue returns the value of a test's flag, or "" outside of tests.
func flagValue(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// All reports whether all cases of sampled tests run, as in .ci/run. Of those that compare with other programs a part may be chosen.
func All() bool { return os.Getenv("TFDEPS_TEST_PEERS") != "" }

// chosenPart returns which of how many parts of the comparisons run: all of them with TFDEPS_TEST_PEERS=all, the second third
// with 1/3, and a tenth without it.
func chosenPart() (part, parts uint32, err error) {
	given := os.Getenv("TFDEPS_TEST_PEERS")
	switch given {
	case "":
		return 0, 10, nil
	case "all":
		return 0, 1, nil
	}

	if _, err = fmt.Sscanf(given, "%d/%d", &part, &parts); err != nil || part >= parts {
		return 0, 1, fmt.Errorf("TFDEPS_TEST_PEERS is %q: it has to be all, or a part such as 1/3", given)
	}
	return part, parts, nil
}

// Rounds returns how often a test repeats something, such as a race: all if [All] cases run, otherwise few.
func Rounds(few, all int) int {
	if All() {
		return all
	}
	return few
}

// Stride returns the step width of a test that otherwise goes through every step: 1 if [All] cases run, short for a short test
// (-short), otherwise 5.
func Stride(short int) int {
	switch {
	case All():
		return 1
	case flagValue("test.short") == "true":
		return short
	}
	return 5
}

// PeerCase skips nine in ten cases of a test that compares many cases with another program, unless
// TFDEPS_TEST_PEERS is "all" or another part, as 1/3, or -run names a case. The case's own subtest calls it, with its name.
func PeerCase(t Test, name string) {
	t.Helper()
	part, parts, err := chosenPart()
	if err != nil {
		t.Fatalf("%v", err)
	}

	if isIn(part, parts, name) {
		return
	}
	if strings.Contains(flagValue("test.run"), "/") {
		return
	}
	t.Skipf("one case in %d is enough; TFDEPS_TEST_PEERS=all runs the others, too", parts)
}

// SpreadTemporary makes a directory for all temporary files of this process, which the caller removes after the last test. ext4 places
// its subdirectories in different block groups. Without a journal ext4 skips inodes that were freed within the last minute, one by one,
// for each new file of a group; for tests that make and remove thousands of files that takes a sixth of their processor time.
func SpreadTemporary() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "tests"); err != nil {
		return "", err
	}
	spread(dir)
	return dir, errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir)) // some tests run programs as other users
}
