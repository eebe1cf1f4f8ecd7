package providercache

import (
	"errors"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/must"
)

// list is an error whose values can't be compared.
type list []string

func (l list) Error() string { return l[0] }

func TestJoinErrors_ComparesSharedCausesOnly(t *testing.T) {
	full := shortageOf([]getproviders.Provider{{}}, &disk.RoomError{})
	outcomes := []outcome{}
	for _, err := range []error{list{"one"}, errors.Join(full), nil, full, list{"two"}} {
		outcomes = append(outcomes, outcome{Outcome: Outcome{Err: err}})
	}
	must.Len(t, getproviders.SplitErrors(joinErrors(outcomes)), 3)
}

// Like Terraform, an installation sorts the hashes of each selected provider, and
// then takes over the constraints; a sorted entry stays as it is.
func TestConclude_SortsTheHashesOfWhatIsThere(t *testing.T) {
	widget := must.Get(getproviders.Terraform("").ParseProvider("acme/widget"))(t)
	constraints := must.Get(getproviders.ParseConstraints("~> 1.0"))(t)
	for text, want := range map[string]bool{
		`"h1:b", "h1:a"`: true, `"h1:a", "h1:a", "h1:b"`: true, `"zh:a", "h1:a", "h1:b"`: true, `"h1:a", "h1:b"`: false, `"h1:a", "h9:a", "zh:b"`: false, `"h9:b", "h1:a"`: true,
	} {
		locks, diags := depsfile.Decode([]byte("provider \"registry.terraform.io/acme/widget\" {\n  version = \"1.0.0\"\n  hashes = ["+text+"]\n}\n"), "lock", getproviders.Terraform(""))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		selected := getproviders.Selection{Provider: widget, Version: getproviders.MustParseVersion("1.0.0"), Constraints: constraints}
		updated, _, err := conclude(getproviders.Requirements{widget: {}}, locks, []outcome{{Outcome: Outcome{Selection: selected}}})
		must.Succeed(t, err)
		lock, _ := updated.Provider(widget)
		if changed := !updated.Equal(locks); changed != want || !slices.IsSorted(lock.Hashes) || (lock.Constraints.String() == "~> 1.0") != want {
			t.Errorf("%s: changed %t, %+v", text, changed, lock)
		}
	}
}
