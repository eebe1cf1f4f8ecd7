package faults

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
)

// TestSoak_HoldsForASecond keeps the soak program in step with the engine; it is meant to run longer.
func TestSoak_HoldsForASecond(t *testing.T) {
	t.Parallel()
	harness.SkipIfShort(t)
	cmd := harness.GoCommand("run", "-C", harness.Path(t), "./testdata/soak", "-for=1s", "-at-once=10")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " installations of 5 providers, ") {
		t.Errorf("%v: %s", err, out)
	}
}
