package harness

import (
	"os"
	"strings"
	"testing"
)

// Exemption is a case in which tfdeps and Terraform may differ, with the reason.
type Exemption struct {
	Exit, Lock, Tree bool   // what may differ
	Reason           string // "difference N: ...", N being an entry of README's list
}

// CheckExemptions holds the reasons of exemptions, by the case's name, against
// the list "Where it differs from Terraform" in README.md.
func CheckExemptions(t *testing.T, all map[string]Exemption) {
	t.Helper()
	readme, err := os.ReadFile(Path(t, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(readme), "## Where it differs from Terraform")
	list, _, _ = strings.Cut(list, "\n## ")
	for name, allowed := range all {
		number, isDifference := strings.CutPrefix(allowed.Reason, "difference ")
		number, reason, _ := strings.Cut(number, ":")
		if !isDifference || reason == "" || !strings.Contains(list, "\n"+number+". ") {
			t.Errorf("%s: %q names no difference of the list in README.md", name, allowed.Reason)
		}
	}
}
