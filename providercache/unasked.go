package providercache

import (
	"errors"

	"github.com/tfdeps/tfdeps/getproviders"
)

// unasked is about sources that may have what the others lack, and can't be
// asked for it: see getproviders.MultiSource. It is nil if there are none.
func (f *Fetcher) unasked(p getproviders.Provider) error {
	source, ok := f.Source.(interface {
		Unasked(getproviders.Provider) []*getproviders.NotCachedError
	})
	if !ok {
		return nil
	}
	var errs []error
	for _, err := range source.Unasked(p) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
