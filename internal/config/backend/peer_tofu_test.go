package backend_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// lookTofu finds OpenTofu, which no archive of packages has: a test is skipped
// without it even where peers are required.
func lookTofu(t *testing.T) string {
	t.Helper()
	program, err := peertest.PeerProgram("tofu")
	if err != nil {
		t.Skipf("there is no tofu: %v", err)
	}
	return program
}

// TestRecord_SameAsOpenTofu is [TestRecord_SameAsTerraform] for OpenTofu.
func TestRecord_SameAsOpenTofu(t *testing.T) {
	program := lookTofu(t)
	checkRecords(t, program, getproviders.OpenTofu(peerVersion(t, program)))
}

// TestRecord_HasTheNumberThatOpenTofuKnows is [TestRecord_HasTheNumberThatTerraformKnows] for OpenTofu.
func TestRecord_HasTheNumberThatOpenTofuKnows(t *testing.T) {
	program := lookTofu(t)
	src := must.Get(os.ReadFile("schemas_opentofu.json"))(t)
	var differences map[string]tableEntry
	must.Succeed(t, json.Unmarshal(src, &differences))
	checkNumbers(t, program, getproviders.OpenTofu(peerVersion(t, program)), bodies(t, differences))
}
