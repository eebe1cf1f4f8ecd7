// Package peertest finds the programs of others that tests compare with, and says which of many cases run.
package peertest

import (
	"context"
	"errors"
	"flag"
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

// Test is what a *testing.T, a *testing.B and a *testing.F have in common to end
// with.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// LookProgram finds a program that a test runs or compares with, by the first of its
// names that is on PATH or is a path. Instead of the programs terraform and tofu
// it may be those that TFDEPS_PEER_TERRAFORM and TFDEPS_PEER_TOFU name. Where there
// is none the test is skipped, or with TFDEPS_REQUIRE_PEERS=1 it fails. A test that is to
// be short (-short) is skipped instead of running one of these two.
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

// RunsScripts reports whether there are a shell and the programs that scripts start. On Windows there are only under Wine:
// there TFDEPS_TEST_PROGRAMS is a directory with programs that start those of the system below (testdata/wine/native).
func RunsScripts() bool { return runtime.GOOS != "windows" || os.Getenv("TFDEPS_TEST_PROGRAMS") != "" }

// ScriptPath is a path as such programs understand it: under Wine, C: is the directory that TFDEPS_TEST_DRIVE_C names.
func ScriptPath(path string) string {
	if runtime.GOOS == "windows" {
		path = os.Getenv("TFDEPS_TEST_DRIVE_C") + filepath.ToSlash(strings.TrimPrefix(path, filepath.VolumeName(path)))
	}
	return path
}

// WriteProgram writes a program that a test is going to start, such as a script. It
// waits for programs that are being started by others: one that inherited the open file
// would keep the system from starting it ("text file busy"). Where Windows runs scripts, a program PATH.exe starts the script.
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

// AwaitStarts waits for programs that are being started. Those that begin to start
// afterwards inherit no file that was closed before, so it can be run.
func AwaitStarts() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// PeerProgram returns the path of a program: that which TFDEPS_PEER_<NAME> names,
// else the one on PATH.
func PeerProgram(name string) (path string, err error) {
	if given := os.Getenv(peerVariable(name)); given != "" {
		if path, err = exec.LookPath(given); err == nil {
			path, err = filepath.Abs(path) // tests run it in other directories
		}
		return path, err
	}
	return exec.LookPath(name)
}

// peerVariable is the variable that names another program to compare with.
func peerVariable(name string) string { return "TFDEPS_PEER_" + strings.ToUpper(name) }

// LookTerraform is LookProgram for a real terraform that is to trust the CA of a
// server: it does where SSL_CERT_FILE is read, which is neither macOS nor Windows.
func LookTerraform(t Test) (path string) {
	t.Helper()
	if runtime.GOOS == "darwin" || !RunsScripts() {
		t.Skipf("the real terraform doesn't read SSL_CERT_FILE on this system")
		return ""
	}
	return LookProgram(t, "terraform")
}

// Command is a run of terraform or tofu in a directory, with nothing of what its user has set; env counts more.
func Command(ctx context.Context, program, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=" + os.DevNull, "TF_DATA_DIR=", "TF_CLI_ARGS="}, env)
	return cmd
}

// OneInFive reports whether the case of a name is in the fifth of a test's cases that
// runs where not all do. It is the same fifth every time.
func OneInFive(name string) bool { return oneIn(5, name) }

func oneIn(n uint32, name string) bool {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name))
	return sum.Sum32()%n == 0
}

// FirstIfShort returns the first n cases of a test if it is to be short (-short), and otherwise all of them.
func FirstIfShort[Case any](n int, cases ...Case) []Case {
	if flagValue("test.short") == "true" {
		return cases[:min(n, len(cases))]
	}
	return cases
}

// MoreAtOnce has twice as many tests run side by side as usual, unless -parallel says how many, and the collector of garbage wait for
// more of it, unless GOGC says for how much. TestMain calls it where tests wait for programs and servers. It parses the flags.
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

// flagValue is the value of a test's flag, "" outside of tests.
func flagValue(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// All reports whether each case runs of which otherwise a sample does, as in .ci/run.
func All() bool { return os.Getenv("TFDEPS_TEST_PEERS") == "all" }

// Rounds is how often a test repeats something, such as a race: all times if [All] cases run, and few times as a rule.
func Rounds(few, all int) int {
	if All() {
		return all
	}
	return few
}

// Stride is how many steps a test goes on that otherwise goes through every step of something: 1 if [All] cases run, 5 as a rule, and
// short if the test is to be short (-short).
func Stride(short int) int {
	switch {
	case All():
		return 1
	case flagValue("test.short") == "true":
		return short
	}
	return 5
}

// PeerCase skips nine in ten cases of a test that compares many with another
// program, unless TFDEPS_TEST_PEERS is "all" or -run names a case. The case's own
// subtest calls it, with its name.
func PeerCase(t Test, name string) {
	t.Helper()
	if All() || oneIn(10, name) {
		return
	}
	if strings.Contains(flagValue("test.run"), "/") {
		return
	}
	t.Skipf("one case in ten is enough; TFDEPS_TEST_PEERS=all runs the others, too")
}

// SpreadTemporary makes a directory for all temporary files of this process, which the caller removes after the last test. It has ext4
// place what tests make there in different block groups. Without a journal ext4 skips inodes that were freed within the last minute, one
// by one, for each new file of a group; for tests that make and remove thousands of files that is a sixth of their processor time.
func SpreadTemporary() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "tests"); err != nil {
		return "", err
	}
	spread(dir)
	return dir, errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir)) // some tests run programs as other users
}
