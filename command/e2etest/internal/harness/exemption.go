package harness

import (
	"os"
	"strings"
	"testing"
)

// Exemption is a case in which tfdeps and Terraform may differ, with the reason.
type Exemption struct {
	Exit, Lock, Tree bool   // what may differ
	Before           string // "1.15" means only for versions of Terraform before that; "" means for all
	Reason           string // "difference N: ...", N being an entry of docs/differences.md
}

// Now returns the exemption if the Terraform of these tests needs it, else a zero one.
func (e Exemption) Now(t *testing.T) Exemption {
	t.Helper()
	if e.Before != "" && !PeerOlderThan(t, e.Before) {
		return Exemption{}
	}
	return e
}

// CheckExemptions checks that the reasons of exemptions, by the case's name, are
// in docs/differences.md.
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
