package oracle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// pair is tfdeps and the program that it is compared with.
type pair struct {
	programs [2]string
	registry *providertest.Registry
	expand   func(string) string                  // in names of files and in them
	env      func(testing.TB, ...string) []string // with the other program's version for tfdeps
	recorded *recording                           // the recorded results of the second program; nil if that runs
	agree    bool                                 // init has to fail if the second program fails, with any text
}

func withTerraform(t *testing.T) *pair {
	t.Helper()
	return newPair(t, [2]string{harness.Tfdeps(t), harness.LookTerraform(t)}, harness.PinnedEnv)
}

// withTofu returns the pair of tfdeps under the name tofu and the real tofu.
func withTofu(t *testing.T) *pair {
	t.Helper()
	return asTofu(t, harness.LookTofu(t))
}

func asTofu(t *testing.T, peer string) *pair {
	t.Helper()
	version := testedTofu
	if peer != "" {
		version = tofuVersion(t, peer)
	}
	return newPair(t, [2]string{linkedAs(t, "tofu"), peer}, func(tb testing.TB, more ...string) []string {
		return harness.Env(tb, append(more, "TFDEPS_TOFU_VERSION="+version)...)
	})
}

func newPair(t *testing.T, programs [2]string, env func(testing.TB, ...string) []string) *pair {
	t.Helper()
	registry := newOracleRegistry(t, nil)
	expand := strings.NewReplacer("$REGISTRY", registry.Host(), "$PLATFORM", getproviders.CurrentPlatform().String())
	return &pair{programs: programs, registry: registry, expand: expand.Replace, env: env}
}

// run is the state of a case.
type run struct {
	*pair
	t        *testing.T
	steps    map[string]map[string]string // "1" to file name to content
	dirs     [2]string                    // where each program works
	env      []string
	allowed  harness.Exemption // Exit means that the exit codes differ: if init has to fail, Terraform's must succeed, and the other way round
	differed bool              // in a way that an exemption allows
}

// begin writes no files yet; the files are called STEP/FILE.
func (p *pair) begin(t *testing.T, files []txtar.File, allowed harness.Exemption, env ...string) *run {
	t.Helper()
	o := &run{pair: p, t: t, steps: map[string]map[string]string{}, allowed: allowed}
	o.env = p.env(t, append(harness.Redirect(t, p.registry, oracleHosts...), env...)...)
	for _, f := range files {
		step, name, _ := strings.Cut(f.Name, "/")
		if o.steps[step] == nil {
			o.steps[step] = map[string]string{}
		}
		o.steps[step][p.expand(name)] = p.expand(string(f.Data))
	}
	o.makeDirs()
	return o
}

// makeDirs makes a directory for each program, with names of one length, so that lines break in the same places.
func (o *run) makeDirs() {
	o.t.Helper()
	parent := o.t.TempDir()
	for i, name := range []string{"a", "b"} {
		o.dirs[i] = filepath.Join(parent, name)
		must.Succeed(o.t, os.Mkdir(o.dirs[i], 0o755))
	}
}

// step lays out files and runs init of both programs.
func (o *run) step(step string) (failed bool) {
	o.t.Helper()
	files := o.steps[step]
	reason, wantFailure := files["fails"]
	line := append([]string{"init", "-no-color", "-input=false"}, strings.Fields(files["args"])...)
	var ends [2]harness.Ended
	for i := range ends {
		o.prepare(i, files)
		ends[i] = o.in(i, i, line...)
	}
	if o.agree {
		differs := outcome(ends[0]) != outcome(ends[1])
		if o.differed = o.differed || differs; differs && !o.allowed.Exit {
			o.t.Fatalf("step %s, %s\n--- ours\n%s\n--- theirs\n%s", step, line, ends[0], ends[1])
		}
		return ends[0].Code != 0 || ends[1].Code != 0
	}
	for i, end := range ends {
		fails := wantFailure != (i == 1 && o.allowed.Exit)
		if (end.Code != 0) != fails {
			o.t.Fatalf("step %s, %s %s: %s", step, filepath.Base(o.programs[i]), line, end)
		}
		if fails && !strings.Contains(harness.OneLine(end.Said()), harness.OneLine(reason)) {
			o.t.Errorf("step %s, %s %s doesn't say %q:\n%s", step, filepath.Base(o.programs[i]), line, reason, end)
		}
	}
	return wantFailure || o.allowed.Exit
}

// prepare lays files into a program's directory.
func (o *run) prepare(program int, files map[string]string) {
	o.t.Helper()
	for name := range strings.FieldsSeq(files["remove"]) {
		must.Succeed(o.t, os.RemoveAll(filepath.Join(o.dirs[program], name)))
	}
	for name, content := range files {
		if name != "args" && name != "remove" && name != "fails" {
			lay(o.t, o.dirs[program], name, content)
		}
	}
}

// lay writes a file that all users may read.
func lay(t *testing.T, dir, name, content string) {
	t.Helper()
	must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
}

// in runs a program in its own directory, or in the other one's.
func (o *run) in(dir, program int, line ...string) harness.Ended {
	o.t.Helper()
	return harness.Exec(o.t, o.dirs[dir], o.env, append([]string{o.programs[program]}, line...)...)
}

// outcome is how a program ended, in words.
func outcome(end harness.Ended) string {
	if end.Code != 0 {
		return "failed"
	}
	return "went well"
}

// same compares files or output of the programs.
func (o *run) same(what, ours, theirs string, allowed bool) {
	o.t.Helper()
	if ours == theirs {
		return
	}
	if o.differed = true; !allowed {
		o.t.Errorf("%s differs\n--- ours\n%s\n--- theirs\n%s", what, ours, theirs)
	}
}

func (o *run) sameLock(when string) {
	o.t.Helper()
	o.same(when+", the lock file", harness.ReadLock(o.t, o.dirs[0]), harness.ReadLock(o.t, o.dirs[1]), o.allowed.Lock)
}

// crossOver runs each program in the other's directory, where nothing has to be installed, and nothing may change.
func (o *run) crossOver() {
	o.t.Helper()
	for i, dir := range o.dirs {
		before, tree := harness.ReadLock(o.t, dir), joined(asOurs(harness.ListTree(o.t, dir)))
		end, other := o.in(i, 1-i, "init", "-no-color", "-input=false"), filepath.Base(o.programs[1-i])
		if end.Code != 0 || strings.Contains(end.Said(), "- Installing ") {
			o.t.Fatalf("%s in the other's directory: %s", other, end)
		}
		o.same(other+" changed the other's lock file: now and before, it", harness.ReadLock(o.t, dir), before, false)
		o.same(other+" changed what is installed: now and before, it", joined(asOurs(harness.ListTree(o.t, dir))), tree, false)
	}
}

// isNeeded checks that an exemption is needed.
func (o *run) isNeeded() {
	o.t.Helper()
	if o.allowed.Reason != "" && !o.differed {
		o.t.Errorf("nothing differs, so there is no need for the exemption (%s)", o.allowed.Reason)
	}
}

// files are the contents of files by their names, which have slashes.
type files = map[string]string

// eachCase runs a tenth of the cases. It checks that there are at least least cases, and that each exemption is for a case.
func eachCase[Case any](t *testing.T, cases map[string]Case, exemptions map[string]harness.Exemption, least int, run func(t *testing.T, c Case, allowed harness.Exemption)) {
	t.Helper()
	if len(cases) < least {
		t.Errorf("there are %d cases, want %d at least", len(cases), least)
	}
	for name := range exemptions {
		if _, ok := cases[name]; !ok {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // -parallel is the number of cores, unless a flag says otherwise
			harness.PeerCase(t)
			run(t, c, exemptions[name].Now(t))
		})
	}
}

// readCases reads the files of archives. split returns the case of a file and its name there, from the names of
// the archive and the file.
func readCases(t *testing.T, pattern string, split func(archive, name string) (caseName, file string)) map[string][]txtar.File {
	t.Helper()
	paths, err := filepath.Glob(harness.Path(t, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no cases (%v)", pattern, err)
	}
	cases := map[string][]txtar.File{}
	for _, path := range paths {
		archive := must.Get(txtar.ParseFile(path))(t)
		for _, f := range archive.Files {
			name, file := split(strings.TrimSuffix(filepath.Base(path), ".txtar"), f.Name)
			cases[name] = append(cases[name], txtar.File{Name: file, Data: f.Data})
		}
	}
	return cases
}

// several is the split for archives with several cases, as files CASE/FILE. inGroups is the same if archives may share
// names of cases: the case is called ARCHIVE/CASE.
func several(_, name string) (caseName, file string) {
	caseName, file, _ = strings.Cut(name, "/")
	return caseName, file
}

func inGroups(archive, name string) (caseName, file string) {
	caseName, file = several(archive, name)
	return archive + "/" + caseName, file
}

// byName returns the files of a case by name.
func byName(files []txtar.File) map[string]string {
	all := map[string]string{}
	for _, f := range files {
		all[f.Name] = string(f.Data)
	}
	return all
}
