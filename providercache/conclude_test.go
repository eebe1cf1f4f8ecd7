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
	outcomes := []Outcome{{Err: list{"one"}}, {Err: errors.Join(full)}, {}, {Err: full}, {Err: list{"two"}}}
	if got := getproviders.SplitErrors(joinErrors(outcomes)); len(got) != 3 {
		t.Errorf("got %d errors: %v", len(got), got)
	}
}
