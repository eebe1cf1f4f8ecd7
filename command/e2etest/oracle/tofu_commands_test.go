package oracle

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/peertest"
)

// testedTofu is the version whose behaviour the cases have where there is no tofu to ask.
const testedTofu = "1.12.6"

// TestCommands_SameAsTofu is [TestCommands_SameAsTerraform] for tfdeps in the place of tofu,
// with the cases in testdata/oracle_tofu_commands and testdata/oracle_both. Where there is no tofu, tfdeps alone is
// compared with what the cases say.
func TestCommands_SameAsTofu(t *testing.T) {
	t.Parallel()
	peer, err := peertest.PeerProgram("tofu")
	if err != nil {
		t.Logf("there is no tofu to compare with: %v", err)
	}
	compareCommands(t, asTofu(t, peer), "oracle_tofu_commands", 400)
}
