package oracle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// manyCalls is a configuration that calls modules of one repository a hundred
// times, at three refs.
type manyCalls struct {
	tb    testing.TB
	world *moduleWorld
	home  string // of one user, with a module store
	env   []string
	log   string // what git was called with
}

func newManyCalls(tb testing.TB) *manyCalls {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("git is watched by a shell script")
	}
	harness.RequireProgram(tb, "git")
	m := &manyCalls{tb: tb, world: newModuleWorld(tb), home: tb.TempDir()}
	bin := filepath.Join(m.home, "bin")
	m.log = filepath.Join(m.home, "git.log")
	real, err := exec.LookPath("git")
	must.Succeed(tb, err)
	must.Succeed(tb, os.MkdirAll(bin, 0o755))
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>'%s'\nexec '%s' \"$@\"\n", m.log, real)
	must.Succeed(tb, peertest.WriteProgram(filepath.Join(bin, "git"), []byte(script)))
	ca := filepath.Join(m.home, "ca.pem")
	must.Succeed(tb, os.WriteFile(ca, m.world.ca.PEM(), 0o600))
	registry, err := m.world.registry.Env(m.home, oracleHosts...)
	must.Succeed(tb, err)
	m.env = slices.Concat([]string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + m.home, "TMPDIR=" + m.home,
		"GIT_SSL_CAINFO=" + ca}, registry, gitEnv())
	return m
}

// config calls the repository at the given refs in turn.
func (m *manyCalls) config(repository string, refs ...string) string {
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "module \"m%d\" {\n  source = \"%s?ref=%s\"\n}\n", i, repository, refs[i%len(refs)])
	}
	return m.world.expand(text.String())
}

// init runs a program in a new directory, and returns how long it took.
func (m *manyCalls) init(program, config string) time.Duration {
	m.tb.Helper()
	dir := m.tb.TempDir()
	must.Succeed(m.tb, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600))
	must.Succeed(m.tb, os.RemoveAll(m.log))
	start := time.Now()
	end := harness.Exec(m.tb, dir, m.env, program, "init", "-no-color", "-input=false")
	took := time.Since(start)
	if end.Code != 0 {
		m.tb.Fatalf("%s init: %s", filepath.Base(program), end)
	}
	if n := len(installedCall.FindAllString(end.Said(), -1)); n != 100 {
		m.tb.Fatalf("%d modules were installed:\n%s", n, end)
	}
	return took
}

// installedCall is what init says of a module that the root calls.
var installedCall = regexp.MustCompile(`(?m)^- m\d+ in `)

// calls says how often git was called for something.
func (m *manyCalls) calls(command string) (n int) {
	log, _ := os.ReadFile(m.log)
	for line := range strings.Lines(string(log)) {
		if slices.Contains(strings.Fields(line), command) {
			n++
		}
	}
	return n
}

func TestModules_AreFetchedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a repository of a thousand commits")
	}
	t.Parallel()
	m := newManyCalls(t)
	program := harness.Tfdeps(t)
	tags := m.config("$HTTPGIT/long.git", "v0", "v500", "main")
	tag := m.config("$HTTPGIT/leaf.git", "v1.0.0")
	commits := m.config("$HTTPGIT/leaf.git", "$COMMIT(leaf@v1.0.0)", "$COMMIT(leaf@v1.1.0)")
	var versions strings.Builder
	for i := range 100 {
		fmt.Fprintf(&versions, "module \"m%d\" {\n  source  = \"tf.example.com/acme/%s/cloud\"\n  version = \"1.0.0\"\n}\n", i, []string{"net", "leaf"}[i%2])
	}
	for _, step := range []struct {
		name, config      string
		listings, fetches int // at most
		archives          int
		silent            bool // the registry isn't asked
	}{
		{"three refs", tags, 1, 1, 0, false},
		{"three refs that could have moved", tags, 1, 0, 0, false},
		{"one ref", tag, 1, 1, 0, false},
		{"two commits, one of them new", commits, 1, 1, 0, false},
		{"two commits", commits, 0, 0, 0, false},
		{"versions of a registry", versions.String(), 1, 1, 1, false},
		{"known versions", versions.String(), 0, 0, 0, true},
	} {
		all, archives := m.world.registry.Requests(""), m.world.registry.Requests("module/archive")
		m.init(program, step.config)
		if n := m.calls("ls-remote"); n > step.listings {
			t.Errorf("%s: %d listings, want %d at most", step.name, n, step.listings)
		}
		if n := m.calls("fetch"); n > step.fetches {
			t.Errorf("%s: %d fetches, want %d at most", step.name, n, step.fetches)
		}
		must.Equal(t, m.world.registry.Requests("module/archive")-archives, step.archives, step.name)
		if step.silent {
			must.Equal(t, m.world.registry.Requests(""), all, step.name)
		}
	}
}

// BenchmarkManyModules is the time of init for a hundred calls of one repository
// at three refs, and its ratio to that of the real terraform, which has no
// store: with nothing in the module store (cold), with all of it (warm), and
// where the refs are commits, which can't have moved (commits).
func BenchmarkManyModules(b *testing.B) {
	m := newManyCalls(b)
	ours, peer := harness.Tfdeps(b), harness.LookTerraform(b)
	tags := m.config("$HTTPGIT/long.git", "v0", "v500", "v999")
	commits := m.config("$HTTPGIT/long.git", "$COMMIT(long@v0)", "$COMMIT(long@v500)", "$COMMIT(long@v999)")
	m.init(ours, tags)
	for _, c := range []struct {
		name, config string
		cold         bool
	}{{"cold", tags, true}, {"warm", tags, false}, {"commits", commits, false}} {
		b.Run(c.name, func(b *testing.B) {
			var mine, theirs time.Duration
			for b.Loop() {
				if c.cold {
					must.Succeed(b, os.RemoveAll(filepath.Join(m.home, ".cache/tfdeps/modules")))
				}
				mine += m.init(ours, c.config)
				theirs += m.init(peer, c.config)
			}
			b.ReportMetric(float64(mine.Nanoseconds())/float64(b.N), "ns/op")
			b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N), "terraform-ns/op")
			b.ReportMetric(float64(mine)/float64(theirs), "ratio")
		})
	}
}
