package oracle

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// tofuExemptions are the cases in which tfdeps in the place of OpenTofu and
// OpenTofu may differ; see exemptions.
var tofuExemptions = map[string]harness.Exemption{
	"stray_file":               {Exit: true, Lock: true, Reason: "difference 3: OpenTofu refuses a package that was changed, here it is installed again"},
	"lock_with_unknown_scheme": exemptions["lock_with_unknown_scheme"],
	"zip_setuid":               exemptions["zip_setuid"],
}

func TestTofuExemptions_NameDifferences(t *testing.T) {
	harness.CheckExemptions(t, tofuExemptions)
	harness.CheckExemptions(t, tofuModuleExemptions)
}

// TestInit_SameAsTofu is [TestInit_SameAsTerraform] for tfdeps in the place of tofu, which
// is a link of that name, and the real one: the same cases, and those in
// testdata/oracle_tofu. What init has to fail with isn't looked at, as OpenTofu
// goes on where Terraform doesn't, and the other way round.
func TestInit_SameAsTofu(t *testing.T) {
	t.Parallel()
	tofu := harness.LookTofu(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{linkedAs(t, "tofu"), tofu}
	shared, err := filepath.Glob(harness.Path(t, "testdata/oracle/*.txtar"))
	mustDo(t, err)
	own, err := filepath.Glob(harness.Path(t, "testdata/oracle_tofu/*.txtar"))
	mustDo(t, err)
	if len(shared) < 30 || len(own) < 12 {
		t.Fatalf("found %d and %d cases, want 30 and 12 at least", len(shared), len(own))
	}
	for _, file := range slices.Concat(shared, own) {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			archive, err := txtar.ParseFile(file)
			mustDo(t, err)
			allowed := tofuExemptions[name]
			run := newTofuRun(t, archive, registry, programs)
			run.exempt = allowed.Exit
			run.compare(allowed)
		})
	}
	for name := range tofuExemptions {
		if !slices.ContainsFunc(slices.Concat(shared, own), func(file string) bool { return filepath.Base(file) == name+".txtar" }) {
			t.Errorf("exemption for %q, which is no case", name)
		}
	}
}

// tofuModuleExemptions are like tofuExemptions, for modules.
var tofuModuleExemptions = moduleExemptions

// TestModules_SameAsTofu is [TestModules_SameAsTerraform] for OpenTofu.
func TestModules_SameAsTofu(t *testing.T) {
	t.Parallel()
	tofu := harness.LookTofu(t)
	harness.RequireProgram(t, "git")
	world := newModuleWorld(t)
	programs := [2]string{linkedAs(t, "tofu"), tofu}
	version := "TFDEPS_TOFU_VERSION=" + tofuVersion(t, tofu)
	for name, files := range moduleCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			allowed := tofuModuleExemptions[name]
			run := newModuleRunIn(t, world, files, programs, harness.Env(t, version))
			run.agree, run.exempt = true, allowed.Exit
			run.compare(allowed)
		})
	}
}

// newTofuRun is newRegistryRun for OpenTofu.
func newTofuRun(t *testing.T, archive *txtar.Archive, registry *providertest.Registry, programs [2]string) *oracleRun {
	t.Helper()
	env := append(harness.Redirect(t, registry, oracleHosts...), "TFDEPS_TOFU_VERSION="+tofuVersion(t, programs[1]))
	expand := strings.NewReplacer("$REGISTRY", registry.Host(), "$PLATFORM", getproviders.CurrentPlatform().String())
	o := newOracleRun(t, archive.Files, expand.Replace, programs, harness.Env(t, env...))
	o.agree = true
	return o
}

// agreeing is step where the second program says how init ends.
func (o *oracleRun) agreeing(step string, args []string) (failed bool) {
	o.t.Helper()
	var outs [2]string
	var errs [2]error
	for i, dir := range o.dirs {
		o.prepare(dir, o.steps[step])
		outs[i], errs[i] = o.run(o.programs[i], dir, args...)
	}
	switch {
	case (errs[0] != nil) == (errs[1] != nil):
	case o.exempt:
		o.differed = true
		return true
	default:
		o.t.Fatalf("step %s, %s\n--- ours: %v\n%s\n--- theirs: %v\n%s", step, args, errs[0], outs[0], errs[1], outs[1])
	}
	return errs[1] != nil
}

// linkedAs is tfdeps under another name.
func linkedAs(t *testing.T, name string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), name+harness.ExeSuffix())
	if err := os.Symlink(harness.Tfdeps(t), link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	return link
}

// tofuVersion asks the real tofu.
func tofuVersion(t *testing.T, program string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "version", "-json")
	cmd.Env = harness.Env(t, "CHECKPOINT_DISABLE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tofu version: %v%s", err, harness.StderrOf(err))
	}
	var told struct {
		Version string `json:"terraform_version"`
	}
	mustDo(t, json.Unmarshal(out, &told))
	return told.Version
}

// TestInit_TofuWorksWithIt has OpenTofu run in the directories that tfdeps leaves:
// it has nothing to install, and changes neither lock file nor packages. In the
// cases of [TestInit_SameAsTerraform] the addresses are written out for that, because
// another registry is the default there; where they are implied, the case isn't one.
func TestInit_TofuWorksWithIt(t *testing.T) {
	t.Parallel()
	tofu := harness.LookTofu(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{harness.Tfdeps(t), tofu}
	cases, err := filepath.Glob(harness.Path(t, "testdata/oracle/*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool, len(cases))
	t.Cleanup(func() {
		if len(done) < 20 {
			t.Errorf("OpenTofu was asked in %d cases, want 20 at least", len(done))
		}
	})
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range archive.Files {
				archive.Files[i].Data = writtenOut(archive.Files[i].Data)
			}
			if newRegistryRun(t, archive, registry, programs).followedBy() {
				done <- true
			}
		})
	}
}

// twoParts matches an address without a host.
var twoParts = regexp.MustCompile(`("?source"?\s*[=:]\s*")(\w+/\w+")`)

func writtenOut(config []byte) []byte {
	return twoParts.ReplaceAll(config, []byte("${1}another.example.org/$2"))
}

// followedBy runs the first program by the case, and the second in the directory
// that it leaves. It reports whether the case is one for that.
func (o *oracleRun) followedBy() bool {
	o.t.Helper()
	var configuration strings.Builder
	for _, step := range slices.Sorted(maps.Keys(o.steps)) {
		files := o.steps[step]
		if _, fails := files["fails"]; fails {
			return false
		}
		o.prepare(o.dirs[0], files)
		args := append([]string{"init", "-no-color", "-input=false"}, strings.Fields(files["args"])...)
		if out, err := o.run(o.programs[0], o.dirs[0], args...); err != nil {
			o.t.Fatalf("tfdeps %s: %v\n%s", args, err, out)
		}
		for _, content := range files {
			configuration.WriteString(content)
		}
	}
	lock := harness.ReadLock(o.t, o.dirs[0])
	for _, locked := range regexp.MustCompile(`(?m)^provider "(.*)"`).FindAllStringSubmatch(lock, -1) {
		if !strings.Contains(configuration.String(), locked[1]+`"`) {
			return false
		}
	}
	tree := harness.ListTree(o.t, o.dirs[0])
	if out, err := o.run(o.programs[1], o.dirs[0], "init", "-no-color", "-input=false", "-lockfile=readonly"); err != nil {
		o.t.Fatalf("tofu init: %v\n%s", err, out)
	} else if strings.Contains(out, "Installing ") {
		o.t.Errorf("tofu installs what is there:\n%s", out)
	}
	if after := harness.ReadLock(o.t, o.dirs[0]); after != lock {
		o.t.Errorf("tofu changed the lock file\n--- before\n%s\n--- after\n%s", lock, after)
	}
	if after := harness.ListTree(o.t, o.dirs[0]); !slices.Equal(after, tree) {
		o.t.Errorf("tofu changed the packages\n--- before\n%s\n--- after\n%s", strings.Join(tree, "\n"), strings.Join(after, "\n"))
	}
	return true
}
