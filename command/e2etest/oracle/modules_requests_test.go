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

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// manyCalls is a configuration that calls modules of one repository a hundred
// times, at three refs.
type manyCalls struct {
	t     *testing.T
	world *moduleWorld
	home  string // of one user, with a module store
	env   []string
	log   string // what git was called with
}

func newManyCalls(t *testing.T) *manyCalls {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("git is watched by a shell script")
	}
	harness.RequireProgram(t, "git")
	m := &manyCalls{t: t, world: newModuleWorld(t), home: t.TempDir()}
	bin := filepath.Join(m.home, "bin")
	m.log = filepath.Join(m.home, "git.log")
	must.Succeed(t, os.MkdirAll(bin, 0o755))
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" >>'%s'\nexec '%s' \"$@\"\n", m.log, must.Get(exec.LookPath("git"))(t))
	must.Succeed(t, peertest.WriteProgram(filepath.Join(bin, "git"), []byte(script)))
	ca := filepath.Join(m.home, "ca.pem")
	must.Write(t, ca, m.world.ca.PEM())
	m.env = slices.Concat([]string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + m.home, "TMPDIR=" + m.home,
		"GIT_SSL_CAINFO=" + ca}, harness.Redirect(t, m.world.registry, oracleHosts...), gitEnv())
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

// init runs tfdeps in a new directory.
func (m *manyCalls) init(config string) {
	m.t.Helper()
	must.Succeed(m.t, os.RemoveAll(m.log))
	said := harness.Run(m.t, harness.WorkDir(m.t, config), m.env, harness.Tfdeps(m.t), "init", "-no-color", "-input=false")
	must.Len(m.t, installedCall.FindAllString(said, -1), 100, said)
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
		m.init(step.config)
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
