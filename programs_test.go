package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// lookPeer finds the real terraform.
func lookPeer(tb testing.TB) string {
	tb.Helper()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		tb.Skip("the real terraform doesn't read SSL_CERT_FILE on this system")
	}
	program, err := exec.LookPath("terraform")
	if err == nil {
		return program
	}
	if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
		tb.Fatal("TFDEPS_REQUIRE_PEERS=1, and terraform is not on PATH")
	}
	tb.Skip("terraform is not on PATH")
	return ""
}

// requireProgram skips a test that needs a program which isn't there.
func requireProgram(tb testing.TB, name string) {
	tb.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
		tb.Fatalf("TFDEPS_REQUIRE_PEERS=1, and %s is not on PATH", name)
	}
	tb.Skipf("%s is not on PATH", name)
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

// buildTfdeps builds this program as it is shipped.
func buildTfdeps(tb testing.TB) string {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), "tfdeps"+exeSuffix())
	buildProgram(tb, program, ".")
	return program
}

// buildProgram builds a command of this tree, stripped.
func buildProgram(tb testing.TB, program, pkg string) {
	tb.Helper()
	out, err := goCommand("build", "-trimpath", "-ldflags=-s -w", "-o", program, pkg).CombinedOutput()
	if err != nil {
		tb.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
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
