package providercache

import (
	"errors"
	"testing"

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
