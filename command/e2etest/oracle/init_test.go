// Package oracle runs tfdeps and the real terraform, or tofu, on the same
// directories and compares what they leave and say.
package oracle

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// exemptions are all that there are. "Difference N" is an entry of the list in
// docs/differences.md.
var exemptions = map[string]harness.Exemption{
	"stray_file":               {Lock: true, Tree: true, Reason: "difference 3: Terraform unpacks around the stray file and locks what comes out"},
	"lock_with_unknown_scheme": {Exit: true, Lock: true, Reason: "difference 43: Terraform installs as if the entry had no hashes, and drops those that it doesn't know"},
	"zip_setuid":               {Tree: true, Reason: "difference 12: Terraform leaves the setuid bit on"},
}

// TestInit_SameAsTerraform runs tfdeps and the real terraform in sibling
// directories, from one registry, and compares what they leave on disk byte
// for byte; then each runs in the other's directory, where it has nothing to
// do.
//
// A case is an archive in testdata/oracle. Its files 1/... are laid into both
// directories before the first run of init, 2/... before the second, and so
// on. Three names have a meaning of their own: N/args holds arguments of init,
// N/remove names paths to be removed first, and N/fails says that init has to
// fail, and with which words. $REGISTRY stands for the host of the registry,
// $PLATFORM for this machine's platform.
func TestInit_SameAsTerraform(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{harness.Tfdeps(t), peer}
	cases, err := filepath.Glob(harness.Path(t, "testdata/oracle/*.txtar"))
	if err != nil || len(cases) < 30 {
		t.Fatalf("found %d cases, want 30 at least (%v)", len(cases), err)
	}
	for _, file := range cases {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel() // -parallel is the number of cores, unless a flag says otherwise
			harness.PeerCase(t)
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			allowed := exemptions[name].Now(t)
			run := newRegistryRun(t, archive, registry, programs)
			run.exempt = allowed.Exit
			run.compare(allowed)
		})
	}
	for name := range exemptions {
		if !slices.Contains(cases, harness.Path(t, "testdata", "oracle", name+".txtar")) {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
}

func TestExemptions_NameDifferences(t *testing.T) { harness.CheckExemptions(t, exemptions) }

// oracleRun is one case under way.
type oracleRun struct {
	t        *testing.T
	steps    map[string]map[string]string // "1" to file name to content
	dirs     [2]string                    // where each program works
	programs [2]string
	env      []string
	differed bool // where an exemption allows it
	exempt   bool // from ending alike: where init has to fail, Terraform's must not, and the other way round
	agree    bool // whether init fails is what the second program says, and in which words doesn't matter
}

// newRegistryRun is one in which all packages come from a registry.
func newRegistryRun(t *testing.T, archive *txtar.Archive, registry *providertest.Registry, programs [2]string) *oracleRun {
	t.Helper()
	env := harness.Redirect(t, registry, oracleHosts...)
	expand := strings.NewReplacer("$REGISTRY", registry.Host(), "$PLATFORM", getproviders.CurrentPlatform().String())
	return newOracleRun(t, archive.Files, expand.Replace, programs, harness.PinnedEnv(t, env...))
}

// newOracleRun is one with files STEP/FILE.
func newOracleRun(t *testing.T, files []txtar.File, expand func(string) string, programs [2]string, env []string) *oracleRun {
	t.Helper()
	o := &oracleRun{t: t, steps: map[string]map[string]string{}, programs: programs, env: env}
	for _, f := range files {
		step, name, _ := strings.Cut(f.Name, "/")
		if o.steps[step] == nil {
			o.steps[step] = map[string]string{}
		}
		o.steps[step][expand(name)] = expand(string(f.Data))
	}
	o.makeDirs()
	return o
}

// makeDirs makes a directory for each program.
func (o *oracleRun) makeDirs() {
	o.t.Helper()
	parent := o.t.TempDir()
	for i, name := range []string{"ours", "theirs"} {
		o.dirs[i] = filepath.Join(parent, name)
		if err := os.Mkdir(o.dirs[i], 0o755); err != nil {
			o.t.Fatal(err)
		}
	}
}

func (o *oracleRun) compare(allowed harness.Exemption) {
	failed := false
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		failed = o.step(step)
		o.sameLock("after step "+step, allowed)
		if !failed {
			o.sameTree("after step "+step, allowed)
		}
	}
	if !failed {
		o.crossOver()
	}
	if allowed.Reason != "" && !o.differed {
		o.t.Errorf("nothing differs, so there is no need for the exemption (%s)", allowed.Reason)
	}
}

// step lays out files and runs both programs.
func (o *oracleRun) step(step string) (failed bool) {
	o.t.Helper()
	files := o.steps[step]
	reason, wantFailure := files["fails"]
	args := append([]string{"init", "-no-color", "-input=false"}, strings.Fields(files["args"])...)
	if o.agree {
		return o.agreeing(step, args)
	}
	for i, dir := range o.dirs {
		o.prepare(dir, files)
		out, err := o.run(o.programs[i], dir, args...)
		fails := wantFailure != (i == 1 && o.exempt)
		if (err != nil) != fails {
			o.t.Fatalf("step %s, %s %s: %v\n%s", step, filepath.Base(o.programs[i]), args, err, out)
		}
		if fails && !strings.Contains(harness.OneLine(out), harness.OneLine(reason)) {
			o.t.Errorf("step %s, %s %s doesn't say %q:\n%s", step, filepath.Base(o.programs[i]), args, reason, out)
		}
	}
	return wantFailure || o.exempt
}

func (o *oracleRun) prepare(dir string, files map[string]string) {
	o.t.Helper()
	for _, name := range strings.Fields(files["remove"]) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			o.t.Fatal(err)
		}
	}
	for name, content := range files {
		if name == "args" || name == "remove" || name == "fails" {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			o.t.Fatal(err)
		}
	}
}

func (o *oracleRun) run(program, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(o.t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, o.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (o *oracleRun) sameLock(when string, allowed harness.Exemption) {
	o.t.Helper()
	ours, theirs := harness.ReadLock(o.t, o.dirs[0]), harness.ReadLock(o.t, o.dirs[1])
	switch {
	case ours == theirs:
	case allowed.Lock:
		o.differed = true
	default:
		o.t.Errorf("%s, lock files differ\n--- ours\n%s\n--- theirs\n%s", when, ours, theirs)
	}
}

func (o *oracleRun) sameTree(when string, allowed harness.Exemption) {
	o.t.Helper()
	ours, theirs := harness.ListTree(o.t, o.dirs[0]), asOurs(harness.ListTree(o.t, o.dirs[1]))
	switch {
	case slices.Equal(ours, theirs):
	case allowed.Tree:
		o.differed = true
	default:
		o.t.Errorf("%s, .terraform/providers differs\n--- ours\n%s\n--- theirs\n%s",
			when, strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
}

// asOurs leaves out the files by which OpenTofu locks packages, and which it
// never removes; and it has the record of a backend readable for its owner only,
// which is difference 13.
func asOurs(tree []string) []string {
	for i, line := range tree {
		if mode, record, _ := strings.Cut(line, " "); strings.HasPrefix(record, ".terraform/terraform.tfstate ") && mode == "-rw-r--r--" {
			tree[i] = "-rw------- " + record
		}
	}
	return slices.DeleteFunc(tree, func(line string) bool {
		return strings.Contains(line, " .terraform/providers/") && strings.Contains(line, "/"+getproviders.CurrentPlatform().String()+".lock ")
	})
}

// crossOver lets each program run where the other has prepared everything.
func (o *oracleRun) crossOver() {
	o.t.Helper()
	for i, dir := range o.dirs {
		program := o.programs[1-i]
		before := harness.ReadLock(o.t, dir)
		if out, err := o.run(program, dir, "init", "-no-color", "-input=false"); err != nil {
			o.t.Fatalf("%s in the other's directory: %v\n%s", filepath.Base(program), err, out)
		}
		if after := harness.ReadLock(o.t, dir); after != before {
			o.t.Errorf("%s changed the other's lock file\n--- before\n%s\n--- after\n%s", filepath.Base(program), before, after)
		}
	}
}
