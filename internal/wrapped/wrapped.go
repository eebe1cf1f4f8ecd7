// Package wrapped lists what an error wraps.
package wrapped

// All returns an error and all that it wraps, outer ones first, as errors.Is looks at them.
func All(err error) []error {
	all := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			all = append(all, All(inner)...)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = append(all, All(inner)...)
		}
	}
	return all
}
