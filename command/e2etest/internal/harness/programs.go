// Package harness has what the tests of the whole program share: the
// programs that they run, servers, files and comparisons.
//
//	program := harness.Tfdeps(t)          // built once, whichever test needs it first
//	terraform := harness.LookTerraform(t) // skips the test where there is none
//	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
//	env := harness.Env(t, harness.Redirect(t, registry, "tf.example.com")...)
//	harness.Run(t, t.TempDir(), env, program, "init")
package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// Main is TestMain for packages whose tests wait for programs.
func Main(m *testing.M) {
	dir, err := peertest.SpreadTemporary()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := RunInPlace(m)
	os.RemoveAll(dir)
	os.Exit(code)
}

// RunInPlace is Main for tests whose screens have room for short temporary paths only. It returns the exit code.
func RunInPlace(m *testing.M) int {
	peertest.MoreAtOnce()
	dir, err := preferPeers()
	defer os.RemoveAll(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// preferPeers puts a directory at the head of PATH that has the programs of
// TFDEPS_PEER_TERRAFORM and TFDEPS_PEER_TOFU under their usual names, for
// code that looks for them on PATH. It returns the directory, or "" if neither variable is set.
func preferPeers() (dir string, err error) {
	for _, name := range []string{"terraform", "tofu"} {
		if os.Getenv("TFDEPS_PEER_"+strings.ToUpper(name)) == "" {
			continue
		}
		program, err := peertest.PeerProgram(name)
		if err != nil {
			return dir, fmt.Errorf("TFDEPS_PEER_%s: %w", strings.ToUpper(name), err)
		}
		if dir == "" {
			if dir, err = os.MkdirTemp("", "peers-"); err != nil {
				return "", err
			}
		}
		if err := os.Symlink(program, filepath.Join(dir, name+ExeSuffix())); err != nil {
			return dir, err
		}
	}
	if dir == "" {
		return "", nil
	}
	return dir, os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Tfdeps returns the path of this program, built as for releases: without cgo.
func Tfdeps(tb testing.TB) string {
	tb.Helper()
	return Build(tb, ".", "-tags=netgo,osusergo")
}

// WatchedTfdeps returns the path of this program, watched by the race detector
// if the test is.
func WatchedTfdeps(tb testing.TB) string {
	tb.Helper()
	if raceEnabled {
		return Build(tb, ".", "-race")
	}
	return Tfdeps(tb)
}

// Build returns the path of the program whose source is in a directory, relative
// to the top of this repository. It is stripped and in Go's build cache:
// it is built once for all tests of all packages, and again only if its source
// has changed. Tests must not write to it. Under Wine, where Linux's go command builds, TFDEPS_TEST_PROGRAMS names a directory
// with the program tfdeps.
func Build(tb testing.TB, dir string, flags ...string) string {
	tb.Helper()
	peertest.UsualUmask() // no receipts are written for a cache that others can write to
	if programs := os.Getenv("TFDEPS_TEST_PROGRAMS"); programs != "" && dir == "." {
		return filepath.Join(programs, "tfdeps"+ExeSuffix())
	}
	path, err := built(strings.Join(append([]string{dir}, flags...), " "))
	if err != nil {
		tb.Fatalf("building the program in %s: %v", dir, err)
	}
	return path
}

// built returns the path of the program that go run would run, which is in the
// build cache only from the second run on.
var built = once(func(key string) (string, error) {
	dir, flags, _ := strings.Cut(key, " ")
	root, err := Root()
	if err != nil {
		return "", err
	}
	dependOn(root)
	echo, volume := "echo", ""
	if programs := os.Getenv("TFDEPS_TEST_PROGRAMS"); programs != "" {
		volume, flags = "Z:", "-overlay="+filepath.Join(programs, "../overlay.json")+" "+flags
	} else if runtime.GOOS == "windows" {
		echo = "cmd /c echo"
	}
	args := append([]string{"run", "-C", filepath.Join(root, filepath.FromSlash(dir)), "-ldflags=-s -w", "-exec=" + echo}, strings.Fields(flags)...)
	for range 5 {
		cmd := GoCommand(append(args, ".")...)
		cmd.Env = append(cmd.Env, "GOOS="+runtime.GOOS)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, &stderr)
		}
		path := volume + strings.TrimSpace(string(out))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("go run doesn't keep it in its cache")
})

// once memoizes make by key. Concurrent calls with the same key wait for the first.
func once[Value any](make func(key string) (Value, error)) func(key string) (Value, error) {
	var mu sync.Mutex
	made := map[string]func() (Value, error){}
	return func(key string) (Value, error) {
		mu.Lock()
		of, ok := made[key]
		if !ok {
			of = sync.OnceValues(func() (Value, error) { return make(key) })
			made[key] = of
		}
		mu.Unlock()
		return of()
	}
}

// dependOn lists the directories of this repository. The go command records
// which files a test reads, and caches its result until they change. So
// no test of a program passes from the cache after the program has changed.
func dependOn(root string) {
	_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "e2etest") {
			return filepath.SkipDir
		}
		return nil
	})
}

// Root returns the top directory of this repository, found from the directory of the
// running test.
var Root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("there is no go.mod here or above")
		}
		dir = parent
	}
})

// Path returns the path of a file or directory of this repository.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	root, err := Root()
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(append([]string{root}, elem...)...)
}

// GoCommand returns a run of the go command in the test's directory, without the test's own
// GOFLAGS and without version control.
func GoCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off")
	return cmd
}

// Env returns an environment without the machine's own settings, with a
// new home.
func Env(tb testing.TB, extra ...string) []string {
	tb.Helper()
	home := tb.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home,
		"SSL_CERT_DIR=" + home, "GIT_SSL_CAPATH=" + home, // otherwise each program parses the machine's hundreds of certificates
		"GIT_TEMPLATE_DIR="} // otherwise git copies fourteen samples of hooks
	if runtime.GOOS == "windows" { // no program works there without these
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"), "TEMP="+home, "TMP="+home)
	}
	if _, measured := tb.(*testing.B); !measured {
		env = append(env, "GOGC=off") // a process of a test ends before it has much garbage
	}
	return Homed(append(env, extra...))
}

// PinnedEnv is Env for comparisons: it sets the version of the real
// terraform, so that tfdeps needn't run terraform in every new home.
func PinnedEnv(tb testing.TB, extra ...string) []string {
	tb.Helper()
	version, err := terraformVersion()
	if err != nil {
		tb.Fatal(err)
	}
	return Env(tb, append([]string{"TFDEPS_TERRAFORM_VERSION=" + version}, extra...)...)
}

// Homed returns the environment with the variables by which programs on Windows find what is below HOME on other systems.
func Homed(env []string) []string {
	var homed []string
	for _, entry := range env {
		homed = append(homed, entry)
		if home, ok := strings.CutPrefix(entry, "HOME="); ok && runtime.GOOS == "windows" {
			homed = append(homed, "USERPROFILE="+home, "APPDATA="+home, "LocalAppData="+filepath.Join(home, ".cache"))
		}
	}
	return homed
}

// Run runs a program that has to succeed, and returns its stdout.
func Run(t testing.TB, dir string, env []string, line ...string) string {
	t.Helper()
	end := Exec(t, dir, env, line...)
	if end.Code != 0 {
		t.Fatalf("%s: %s", strings.Join(line, " "), end)
	}
	return end.Out
}

// LinkTo makes a symlink to a program, in a new directory, and returns its path.
func LinkTo(t *testing.T, program, name string) string {
	t.Helper()
	return LinkIn(t, t.TempDir(), program, name)
}

// LinkIn is LinkTo in a given directory. On Windows it makes a copy: symlinks need a privilege there, and a hard
// link to a running program can't be removed.
func LinkIn(t *testing.T, dir, program, name string) string {
	t.Helper()
	path := filepath.Join(dir, name+ExeSuffix())
	if runtime.GOOS == "windows" {
		must.Succeed(t, peertest.WriteProgram(path, must.Get(os.ReadFile(program))(t)))
	} else {
		must.Succeed(t, os.Symlink(program, path))
	}
	return path
}

// ExeSuffix is the end of programs' names.
func ExeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// StderrOf returns the stderr of a failed command, after a line break.
func StderrOf(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return "\n" + string(exit.Stderr)
	}
	return ""
}

// OneLine undoes the wrapping of lines, and removes boxes.
func OneLine(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", "", "╷", "", "╵", "").Replace(text)), " ")
}

// Ended is the exit code and the output of a program.
type Ended struct {
	Out, Err string
	Code     int
}

// Said is the output on both streams.
func (e Ended) Said() string { return e.Out + e.Err }

func (e Ended) String() string { return fmt.Sprintf("exit code %d\n%s", e.Code, e.Said()) }

// Exec runs a program that may fail.
func Exec(tb testing.TB, dir string, env []string, line ...string) Ended {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, Homed(env)
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		tb.Fatal(err)
	}
	return Ended{out.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Refuses runs a program that has to fail with a text in its output.
func Refuses(tb testing.TB, says, dir string, env []string, line ...string) {
	tb.Helper()
	if end := Exec(tb, dir, env, line...); end.Code == 0 || !strings.Contains(OneLine(strings.ReplaceAll(end.Said(), "│", "")), says) {
		tb.Errorf("%s doesn't fail with %q: %s", strings.Join(line, " "), says, end)
	}
}
