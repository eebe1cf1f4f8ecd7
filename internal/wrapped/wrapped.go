// Package wrapped lists the errors in an error's tree, and wraps errors with their subjects.
package wrapped

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// All returns err and all errors that it wraps, in the order of errors.Is.
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

// As returns the errors in All(err) that are of type T.
func As[T any](err error) (found []T) {
	for _, part := range All(err) {
		if one, ok := part.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// About prefixes an error with an address, unless its text already contains the address: errors of requests and of bucket clients
// do, and have it in no field.
func About(address string, err error) error {
	if strings.Contains(err.Error(), address) {
		return err
	}
	return fmt.Errorf("%s: %w", address, err)
}

// Reason returns an error about a file without the file's name, for texts that have the name.
func Reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
