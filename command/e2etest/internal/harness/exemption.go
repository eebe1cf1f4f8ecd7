package harness

import (
	"os"
	"strings"
	"testing"
)

// Exemption is a case in which tfdeps and Terraform may differ, with the reason.
type Exemption struct {
	Exit, Lock, Tree bool   // what may differ
	Reason           string // "difference N: ...", N being an entry of docs/differences.md
}

// CheckExemptions holds the reasons of exemptions, by the case's name, against
// the list in docs/differences.md.
func CheckExemptions(t *testing.T, all map[string]Exemption) {
	t.Helper()
	list, err := os.ReadFile(Path(t, "docs", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, allowed := range all {
		number, isDifference := strings.CutPrefix(allowed.Reason, "difference ")
		number, reason, _ := strings.Cut(number, ":")
		if !isDifference || reason == "" || !strings.Contains(string(list), "\n"+number+". ") {
			t.Errorf("%s: %q names no entry of docs/differences.md", name, allowed.Reason)
		}
	}
}
