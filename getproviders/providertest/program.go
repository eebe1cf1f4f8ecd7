package providertest

import (
	"os"
	"os/exec"
	"runtime"
)

// Test is what a *testing.T, a *testing.B and a *testing.F have in common to end
// with.
type Test interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// LookProgram finds a program that a test has to do with, by the first of its
// names that is on PATH or is a path. Where there is none the test is skipped,
// or with TFDEPS_REQUIRE_PEERS=1 it fails.
func LookProgram(t Test, names ...string) (path string) {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("TFDEPS_REQUIRE_PEERS") == "1" {
		t.Fatalf("TFDEPS_REQUIRE_PEERS=1, and %s is not on PATH", names[0])
	}
	t.Skipf("%s is not on PATH", names[0])
	return ""
}

// LookTerraform is LookProgram for a real terraform that is to trust the CA of a
// server: it does where SSL_CERT_FILE is read, which is neither macOS nor Windows.
func LookTerraform(t Test) (path string) {
	t.Helper()
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skipf("the real terraform doesn't read SSL_CERT_FILE on this system")
		return ""
	}
	return LookProgram(t, "terraform")
}
