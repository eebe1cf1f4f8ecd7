package oracle

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// moduleExemptions are the cases of modules in which the two programs may
// differ; see exemptions.
var moduleExemptions = map[string]harness.Exemption{
	"registry_directory": {Exit: true, Reason: "difference 28: Terraform lets a registry lead to a directory of this machine"},
	"git_ref_in_full":    {Exit: true, Reason: "difference 55: a ref may be written in full"},
	"git_ref_half":       {Exit: true, Reason: "difference 55: a ref may be written in full"},
	"git_empty":          {Exit: true, Reason: "difference 55: a module has files"},
	"git_ref_of_a_log":   {Exit: true, Reason: "difference 55: there is no log here"},
	"git_reaches_files":  {Exit: true, Reason: "difference 28: Terraform lets a module from a repository call one on this machine"},
}

// TestModules_SameAsTerraform is TestInit_SameAsTerraform for modules that have to be
// fetched. Beside lock files it compares modules.json and the output of `providers`,
// and checks that the real plan accepts the directory.
//
// Each archive in testdata/oracle_modules holds several cases, CASE/STEP/FILE. CASE/since is the first version of
// Terraform that does the same as tfdeps; the case is skipped for an older Terraform.
// $GIT/ and $HTTPGIT/ stand for the directory of repositories, by file and by
// https, $WORK/ for that of their checkouts, $ARCHIVES/ for that of archives,
// $COMMIT(REPO@TAG) for a commit. See moduleWorld for these.
func TestModules_SameAsTerraform(t *testing.T) {
	t.Parallel()
	compareModules(t, withTerraform(t))
}

func compareModules(t *testing.T, p *pair) {
	t.Helper()
	harness.RequireProgram(t, "git")
	world := newModuleWorld(t)
	p.registry, p.expand = world.registry, world.expand
	eachCase(t, readCases(t, "testdata/oracle_modules/*.txtar", several), moduleExemptions, 60, func(t *testing.T, files []txtar.File, allowed harness.Exemption) {
		since, files := cutSince(files)
		if since != "" && !p.agree && harness.PeerOlderThan(t, since) {
			t.Skipf("Terraform does that since version %s", since)
		}

		ca := filepath.Join(t.TempDir(), "ca.pem")
		must.Write(t, ca, world.ca.PEM())
		p.begin(t, files, allowed, append(gitEnv(), "GIT_SSL_CAINFO="+ca)...).compareModules()
	})
}

// cutSince returns the version in the file "since" of a case, or "", and the other files.
func cutSince(all []txtar.File) (since string, files []txtar.File) {
	for _, f := range all {
		if f.Name == "since" {
			since = strings.TrimSpace(string(f.Data))
		} else {
			files = append(files, f)
		}
	}
	return since, files
}

func (o *run) compareModules() {
	failed := false
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		if failed = o.step(step); failed {
			continue
		}
		o.sameLock("after step " + step)
		o.sameManifest("after step " + step)
		o.sameModules("after step " + step)
	}
	if failed {
		return
	}
	o.sameProviders()
	o.plan()
	o.crossOver()
	o.sameManifest("after running in each other's directory")
	o.isNeeded()
}

func (o *run) sameManifest(when string) {
	o.t.Helper()
	var manifests [2]string
	for i, dir := range o.dirs {
		manifests[i] = strings.ReplaceAll(contentIfAny(o.t, filepath.Join(dir, ".terraform/modules/modules.json")), filepath.Base(filepath.Dir(dir)), "")
	}
	o.same(when+", modules.json", manifests[0], manifests[1], o.allowed.Tree)
}

// sameModules compares what the programs installed: the names below .terraform/modules, the
// bytes of files, and whether they are executable. Hidden files are in some of Terraform's copies only,
// and a directory of this machine may be a symlink or a copy (differences 27 and 56).
func (o *run) sameModules(when string) {
	o.t.Helper()
	var trees [2]string
	for i, dir := range o.dirs {
		trees[i] = joined(installedModules(o.t, filepath.Join(dir, ".terraform/modules")))
	}
	o.same(when+", what is in modules", trees[0], trees[1], o.allowed.Tree)
}

// installedModules lists the files of each module, and the directories that have any.
func installedModules(t *testing.T, dir string) (lines []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		root := must.Get(filepath.EvalSymlinks(filepath.Join(dir, entry.Name())))(t)
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			continue // the record
		}
		for name, file := range harness.Files(t, root) {
			if !strings.Contains("/"+name, "/.") {
				lines = append(lines, fmt.Sprintf("%s/%s run=%t %q", entry.Name(), name, file.Mode&0o100 != 0, file.Content))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// sameProviders compares what `providers` prints, in which Terraform has
// siblings in any order.
func (o *run) sameProviders() {
	o.t.Helper()
	var lines [2]string
	for i := range lines {
		end := o.in(i, i, "providers", "-no-color")
		if end.Code != 0 {
			o.t.Errorf("%s providers: %s", filepath.Base(o.programs[i]), end)
		}
		lines[i] = joined(setOfLines(end.Said()))
	}
	o.same("what providers prints", lines[0], lines[1], false)
}

// setOfLines returns the text of lines without the drawing of the tree.
func setOfLines(out string) (lines []string) {
	for line := range strings.Lines(out) {
		lines = append(lines, strings.TrimSpace(strings.TrimLeftFunc(line, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) })))
	}
	slices.Sort(lines)
	return lines
}

// plan runs Terraform's plan in the directory of tfdeps. It may only fail
// when it starts providers, because these aren't programs here.
func (o *run) plan() {
	o.t.Helper()
	end := o.in(0, 1, "plan", "-no-color", "-input=false")
	if end.Code != 0 && !strings.Contains(harness.OneLine(end.Said()), "Error: Failed to load plugin schemas") {
		o.t.Errorf("plan doesn't accept the directory: %s", end)
	}
}

const calledTimes = 20

// manyCalls is a configuration that calls modules of one repository many
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
	if !peertest.RunsScripts() {
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
	for i := range calledTimes {
		fmt.Fprintf(&text, "module \"m%d\" {\n  source = \"%s?ref=%s\"\n}\n", i, repository, refs[i%len(refs)])
	}
	return m.world.expand(text.String())
}

// init runs tfdeps in a new directory.
func (m *manyCalls) init(config string) {
	m.t.Helper()
	must.Succeed(m.t, os.RemoveAll(m.log))
	said := harness.Run(m.t, harness.WorkDir(m.t, config), m.env, harness.Tfdeps(m.t), "init", "-no-color", "-input=false")
	must.Len(m.t, installedCall.FindAllString(said, -1), calledTimes, said)
}

// installedCall matches the line of init about a module that the root calls.
var installedCall = regexp.MustCompile(`(?m)^- m\d+ in `)

// calls returns how often a git command was called.
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
	harness.SkipIfShort(t)
	t.Parallel()
	m := newManyCalls(t)
	tags := m.config("$HTTPGIT/long.git", "v0", "v1", "main")
	tag := m.config("$HTTPGIT/leaf.git", "v1.0.0")
	commits := m.config("$HTTPGIT/leaf.git", "$COMMIT(leaf@v1.0.0)", "$COMMIT(leaf@v1.1.0)")
	var versions strings.Builder
	for i := range calledTimes {
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
		must.Equal(t, m.calls("--depth=1"), m.calls("fetch"), step.name)
		must.Equal(t, m.world.registry.Requests("module/archive")-archives, step.archives, step.name)
		if step.silent {
			must.Equal(t, m.world.registry.Requests(""), all, step.name)
		}
	}
}
