package oracle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
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
// fetched. Beside lock files it compares modules.json, what `providers` prints,
// and whether the real plan accepts what is there.
//
// Each archive in testdata/oracle_modules holds several cases, CASE/STEP/FILE.
// $GIT/ and $HTTPGIT/ stand for the directory of repositories, by file and by
// https, $WORK/ for that of their checkouts, $ARCHIVES/ for that of archives,
// $COMMIT(REPO@TAG) for a commit. See moduleWorld for what there is.
func TestModules_SameAsTerraform(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	harness.RequireProgram(t, "git")
	world := newModuleWorld(t)
	programs := [2]string{harness.Tfdeps(t), peer}
	cases := moduleCases(t)
	if len(cases) < 60 {
		t.Errorf("there are %d cases, want 60 at least", len(cases))
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			run := newModuleRun(t, world, cases[name], programs)
			allowed := moduleExemptions[name].Now(t)
			run.exempt = allowed.Exit
			run.compare(allowed)
		})
	}
	for name := range moduleExemptions {
		if _, ok := cases[name]; !ok {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
}

func TestModuleExemptions_NameDifferences(t *testing.T) { harness.CheckExemptions(t, moduleExemptions) }

// moduleCases reads the cases: their names, and the files of each.
func moduleCases(t *testing.T) map[string][]txtar.File {
	t.Helper()
	cases := map[string][]txtar.File{}
	for name, archive := range readCases(t, "testdata/oracle_modules/*.txtar", false) {
		cases[name] = archive.Files
	}
	return cases
}

// moduleRun is one case under way.
type moduleRun struct{ *oracleRun }

func newModuleRun(t *testing.T, world *moduleWorld, files []txtar.File, programs [2]string) *moduleRun {
	t.Helper()
	return newModuleRunIn(t, world, files, programs, harness.PinnedEnv(t))
}

// newModuleRunIn is newModuleRun with an environment that knows the versions of
// the programs.
func newModuleRunIn(t *testing.T, world *moduleWorld, files []txtar.File, programs [2]string, env []string) *moduleRun {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	mustDo(t, os.WriteFile(ca, world.ca.PEM(), 0o600))
	env = slices.Concat(env, harness.Redirect(t, world.registry, oracleHosts...), gitEnv(), []string{"GIT_SSL_CAINFO=" + ca})
	expand := func(text string) string {
		return strings.ReplaceAll(world.expand(text), "$PLATFORM", getproviders.CurrentPlatform().String())
	}
	return &moduleRun{newOracleRun(t, files, expand, programs, env)}
}

func (o *moduleRun) compare(allowed harness.Exemption) {
	failed := false
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		if failed = o.step(step); failed {
			continue
		}
		o.sameLock("after step "+step, allowed)
		o.sameManifest("after step "+step, allowed)
		o.sameModules("after step "+step, allowed)
	}
	if failed {
		return
	}
	o.sameProviders()
	o.plan()
	o.crossOver()
	o.sameManifest("after running in each other's directory", allowed)
	if allowed.Reason != "" && !o.differed {
		o.t.Errorf("nothing differs, so there is no need for the exemption (%s)", allowed.Reason)
	}
}

func (o *moduleRun) sameManifest(when string, allowed harness.Exemption) {
	o.t.Helper()
	var manifests [2]string
	for i, dir := range o.dirs {
		content, err := os.ReadFile(filepath.Join(dir, ".terraform", "modules", "modules.json"))
		if err != nil && !os.IsNotExist(err) {
			o.t.Error(err)
		}
		manifests[i] = strings.ReplaceAll(string(content), filepath.Base(filepath.Dir(dir)), "")
	}
	switch {
	case manifests[0] == manifests[1]:
	case allowed.Tree:
		o.differed = true
	default:
		o.t.Errorf("%s, modules.json differs\n--- ours\n%s\n--- theirs\n%s", when, manifests[0], manifests[1])
	}
}

// sameModules compares what the programs installed: the names below .terraform/modules, the
// bytes of files, and whether they can be run. Names with a dot in front are in some of Terraform's copies only,
// and a directory of this machine may be a link or a copy of it (differences 27 and 56).
func (o *moduleRun) sameModules(when string, allowed harness.Exemption) {
	o.t.Helper()
	var trees [2][]string
	for i, dir := range o.dirs {
		trees[i] = installedModules(o.t, filepath.Join(dir, ".terraform", "modules"))
	}
	switch {
	case slices.Equal(trees[0], trees[1]):
	case allowed.Tree:
		o.differed = true
	default:
		o.t.Errorf("%s, modules differ\n--- ours\n%s\n--- theirs\n%s", when, strings.Join(trees[0], "\n"), strings.Join(trees[1], "\n"))
	}
}

// installedModules lists the files of each module, and the directories that have any.
func installedModules(t *testing.T, dir string) (lines []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, entry := range entries {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, entry.Name()))
		mustDo(t, err)
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			continue // the record
		}
		mustDo(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path != root && strings.HasPrefix(d.Name(), ".") && d.IsDir():
				return fs.SkipDir
			case d.IsDir() || strings.HasPrefix(d.Name(), "."):
				return nil
			}
			content, err := os.ReadFile(path) // of what a link leads to, too
			info, statErr := os.Stat(path)
			if err := errors.Join(err, statErr); err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			lines = append(lines, fmt.Sprintf("%s/%s run=%t %x", entry.Name(), filepath.ToSlash(name), info.Mode()&0o100 != 0, sha256.Sum256(content)))
			return err
		}))
	}
	return lines
}

// sameProviders compares what `providers` prints, in which Terraform has
// siblings in any order.
func (o *moduleRun) sameProviders() {
	o.t.Helper()
	var lines [2][]string
	for i, dir := range o.dirs {
		out, err := o.run(o.programs[i], dir, "providers", "-no-color")
		if err != nil {
			o.t.Errorf("%s providers: %v\n%s", filepath.Base(o.programs[i]), err, out)
		}
		lines[i] = setOfLines(out)
	}
	if !slices.Equal(lines[0], lines[1]) {
		o.t.Errorf("providers prints\n--- ours\n%s\n--- theirs\n%s", strings.Join(lines[0], "\n"), strings.Join(lines[1], "\n"))
	}
}

// setOfLines is what lines say, wherever in the tree they are drawn.
func setOfLines(out string) (lines []string) {
	for line := range strings.Lines(out) {
		lines = append(lines, strings.TrimSpace(strings.TrimLeftFunc(line, func(r rune) bool { return r != '.' && !unicode.IsLetter(r) })))
	}
	slices.Sort(lines)
	return lines
}

// plan has Terraform plan in the directory that we have made. It may fail
// only where it starts providers, for those aren't programs here.
func (o *moduleRun) plan() {
	o.t.Helper()
	out, err := o.run(o.programs[1], o.dirs[0], "plan", "-no-color", "-input=false")
	if err != nil && !strings.Contains(harness.OneLine(out), "Error: Failed to load plugin schemas") {
		o.t.Errorf("plan doesn't accept the directory: %v\n%s", err, out)
	}
}
