package providercache

import (
	"errors"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
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
	if got := getproviders.SplitErrors(joinErrors(outcomes)); len(got) != 3 {
		t.Errorf("got %d errors: %v", len(got), got)
	}
}
