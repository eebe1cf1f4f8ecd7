package oracle

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// tofuExemptions are the cases in which tfdeps in the place of OpenTofu and
// OpenTofu may differ; see exemptions.
var tofuExemptions = map[string]harness.Exemption{
	"stray_file":               {Exit: true, Lock: true, Reason: "difference 3: OpenTofu refuses a package that was changed, here it is installed again"},
	"lock_with_unknown_scheme": exemptions["lock_with_unknown_scheme"],
	"zip_setuid":               exemptions["zip_setuid"],
}

// TestInit_SameAsTofu is [TestInit_SameAsTerraform] for tfdeps in the place of tofu, which
// is a link of that name, and the real one: the same cases, and those in
// testdata/oracle_tofu. What init has to fail with isn't looked at, as OpenTofu
// goes on where Terraform doesn't, and the other way round.
func TestInit_SameAsTofu(t *testing.T) {
	t.Parallel()
	p := withTofu(t)
	p.agree = true
	own := readCases(t, "testdata/oracle_tofu/*.txtar", func(archive, name string) (string, string) { return archive, name })
	if len(own) < 12 {
		t.Errorf("there are %d cases of its own, want 12 at least", len(own))
	}
	maps.Copy(own, initCases(t))
	compareInit(t, p, own, tofuExemptions)
}

// TestModules_SameAsTofu is [TestModules_SameAsTerraform] for OpenTofu.
func TestModules_SameAsTofu(t *testing.T) {
	t.Parallel()
	p := withTofu(t)
	p.agree = true
	compareModules(t, p)
}

// linkedAs is tfdeps under another name.
func linkedAs(t *testing.T, name string) string {
	t.Helper()
	return harness.LinkTo(t, harness.Tfdeps(t), name+harness.ExeSuffix())
}

// tofuVersion asks the real tofu.
func tofuVersion(t *testing.T, program string) string {
	t.Helper()
	out := harness.Run(t, "", harness.Env(t, "CHECKPOINT_DISABLE=1"), program, "version", "-json")
	var told struct {
		Version string `json:"terraform_version"`
	}
	must.Succeed(t, json.Unmarshal([]byte(out), &told))
	return told.Version
}
