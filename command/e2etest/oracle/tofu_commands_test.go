package oracle

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// testedTofu is the version whose behaviour the cases have where there is no tofu to ask.
const testedTofu = "1.12.6"

// TestCommands_SameAsTofu is [TestCommands_SameAsTerraform] for tfdeps in the place of tofu,
// with the cases in testdata/oracle_tofu_commands. Where there is no tofu, tfdeps alone is
// compared with what the cases say.
func TestCommands_SameAsTofu(t *testing.T) {
	t.Parallel()
	programs, version := [2]string{linkedAs(t, "tofu")}, testedTofu
	if peer, err := providertest.PeerProgram("tofu"); err == nil {
		programs[1], version = peer, tofuVersion(t, peer)
	} else {
		t.Logf("there is no tofu to compare with: %v", err)
	}
	registry := newOracleRegistry(t, nil)
	cases := readCases(t, "testdata/oracle_tofu_commands/*.txtar", true)
	if len(cases) < 300 {
		t.Errorf("there are %d cases, want 300 at least", len(cases))
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.PeerCase(t)
			files, lines, _ := splitCase(cases[name])
			env := append(harness.Redirect(t, registry, oracleHosts...), "TFDEPS_TOFU_VERSION="+version)
			expand := strings.NewReplacer("$REGISTRY", registry.Host(), "$PLATFORM", getproviders.CurrentPlatform().String())
			newOracleRun(t, files.Files, expand.Replace, programs, harness.Env(t, env...)).compareCommands(lines)
		})
	}
}
