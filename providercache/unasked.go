package providercache

import (
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
)

// unasked is about sources that may have what the others lack, and can't be
// asked for it: see getproviders.MultiSource. It is nil if there are none.
func (f *Fetcher) unasked(p getproviders.Provider) error {
	var errs []error
	for _, err := range getproviders.UnaskedSources(f.Source, p) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
