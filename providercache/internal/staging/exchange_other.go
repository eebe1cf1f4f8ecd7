//go:build !linux && !darwin

package staging

import "errors"

// exchange would swap the files at two paths; this system doesn't support it.
func exchange(_, _ string) error { return errors.ErrUnsupported }
