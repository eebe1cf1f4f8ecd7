package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// testRun is all tests of this package, which have programs in common.
type testRun struct{ *testing.M }

// Run removes what was built for several tests when the last one is over.
func (r testRun) Run() int {
	var err error
	if built.dir, err = os.MkdirTemp("", "tfdeps-built"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(built.dir)
	return r.M.Run()
}

// built is where programs are that were built for several tests.
var built struct {
	sync.Mutex
	dir string
}

// makeOnce returns the path of something that takes long to make, and which many
// tests read: it is made for the first of them, by what is given that path.
func makeOnce(name string, makeIt func(path string)) string {
	built.Lock()
	defer built.Unlock()
	path := filepath.Join(built.dir, name)
	if _, err := os.Stat(path); err != nil {
		makeIt(path)
	}
	return path
}

// lookPeer finds the real terraform.
func lookPeer(tb testing.TB) string {
	tb.Helper()
	return providertest.LookTerraform(tb)
}

// requireProgram skips a test that needs a program which isn't there.
func requireProgram(tb testing.TB, name string) {
	tb.Helper()
	providertest.LookProgram(tb, name)
}

// peerEnv is an environment that holds nothing of the machine's own set-up.
func peerEnv(tb testing.TB, extra ...string) []string {
	tb.Helper()
	home := tb.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
	if runtime.GOOS == "windows" { // nothing works there without these
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"), "USERPROFILE="+home, "APPDATA="+home, "TEMP="+home, "TMP="+home)
	}
	return append(env, extra...)
}

// oracleEnv is peerEnv for comparisons: tfdeps is told which version the real
// tool has, for which it would ask in every new home.
func oracleEnv(tb testing.TB, extra ...string) []string {
	tb.Helper()
	version, err := peerVersion()
	if err != nil {
		tb.Fatal(err)
	}
	return peerEnv(tb, append([]string{"TFDEPS_TERRAFORM_VERSION=" + version}, extra...)...)
}

// peerVersion asks the real terraform, once for all tests.
var peerVersion = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("terraform", "version", "-json")
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("terraform version: %w%s", err, stderrOf(err))
	}
	var told struct {
		Version string `json:"terraform_version"`
	}
	err = json.Unmarshal(out, &told)
	return told.Version, err
})

// buildTfdeps builds this program as it is shipped.
func buildTfdeps(tb testing.TB) string {
	tb.Helper()
	return buildProgram(tb, ".", "tfdeps")
}

// buildProgram builds the command in a directory, stripped, if no test has done
// so yet. Nobody may write to it.
func buildProgram(tb testing.TB, dir, name string) string {
	tb.Helper()
	return makeOnce(name+exeSuffix(), func(program string) {
		out, err := goCommand("build", "-C", dir, "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput()
		if err != nil {
			tb.Fatalf("go build in %s: %v\n%s", dir, err, out)
		}
	})
}

// goCommand runs the go command in this directory. A test's own flags and
// coverage must not reach what it builds, and neither does version control
// matter to it.
func goCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return cmd
}

// exeSuffix is what names of programs end in.
func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// stderrOf returns what a failed command had to say, on lines of its own.
func stderrOf(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return "\n" + string(exit.Stderr)
	}
	return ""
}
