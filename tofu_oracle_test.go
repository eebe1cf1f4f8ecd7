package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// tofuExemptions are the cases in which tfdeps in the place of OpenTofu and
// OpenTofu may differ; see exemptions.
var tofuExemptions = map[string]exemption{
	"stray_file": {exit: true, lock: true, reason: "difference 3: OpenTofu refuses a package that somebody has changed, here it is made anew"},
	"zip_setuid": exemptions["zip_setuid"],
}

// TestSameAsTofu is [TestSameAsTerraform] for tfdeps in the place of tofu, which
// is a link of that name, and the real one: the same cases, and those in
// testdata/oracle_tofu. What init has to fail with isn't looked at, as OpenTofu
// goes on where Terraform doesn't, and the other way round.
func TestSameAsTofu(t *testing.T) {
	t.Parallel()
	tofu := lookTofu(t)
	registry := newOracleRegistry(t, nil)
	programs := [2]string{linkedAs(t, "tofu"), tofu}
	shared, err := filepath.Glob("testdata/oracle/*.txtar")
	mustDo(t, err)
	own, err := filepath.Glob("testdata/oracle_tofu/*.txtar")
	mustDo(t, err)
	if len(shared) < 30 || len(own) < 12 {
		t.Fatalf("found %d and %d cases, want 30 and 12 at least", len(shared), len(own))
	}
	for _, file := range slices.Concat(shared, own) {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			mustDo(t, err)
			allowed := tofuExemptions[name]
			run := newTofuRun(t, archive, registry, programs)
			run.exempt = allowed.exit
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
var tofuModuleExemptions = map[string]exemption{}

// TestSameModulesAsTofu is [TestSameModulesAsTerraform] for OpenTofu.
func TestSameModulesAsTofu(t *testing.T) {
	t.Parallel()
	tofu := lookTofu(t)
	requireProgram(t, "git")
	world := newModuleWorld(t)
	programs := [2]string{linkedAs(t, "tofu"), tofu}
	version := "TFDEPS_TOFU_VERSION=" + tofuVersion(t, tofu)
	for name, files := range moduleCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			allowed := tofuModuleExemptions[name]
			run := newModuleRunIn(t, world, files, programs, peerEnv(t, version))
			run.agree, run.exempt = true, allowed.exit
			run.compare(allowed)
		})
	}
}

// newTofuRun is newRegistryRun for OpenTofu.
func newTofuRun(t *testing.T, archive *txtar.Archive, registry *providertest.Registry, programs [2]string) *oracleRun {
	t.Helper()
	env := append(redirected(t, registry, oracleHosts...), "TFDEPS_TOFU_VERSION="+tofuVersion(t, programs[1]))
	expand := strings.NewReplacer("$REGISTRY", registry.Host(), "$PLATFORM", getproviders.CurrentPlatform().String())
	o := newOracleRun(t, archive.Files, expand.Replace, programs, peerEnv(t, env...))
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
	link := filepath.Join(t.TempDir(), name+exeSuffix())
	if err := os.Symlink(buildTfdeps(t), link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	return link
}

// tofuVersion asks the real tofu.
func tofuVersion(t *testing.T, program string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "version", "-json")
	cmd.Env = peerEnv(t, "CHECKPOINT_DISABLE=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tofu version: %v%s", err, stderrOf(err))
	}
	var told struct {
		Version string `json:"terraform_version"`
	}
	mustDo(t, json.Unmarshal(out, &told))
	return told.Version
}
