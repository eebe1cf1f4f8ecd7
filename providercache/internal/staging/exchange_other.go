//go:build !linux && !darwin

package staging

import "errors"

// exchange would swap what is at two paths; this system can't.
func exchange(_, _ string) error { return errors.ErrUnsupported }
