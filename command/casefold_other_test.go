//go:build !linux

package command

import (
	"errors"
	"testing"
)

// mountCasefold can't mount anything on other systems than Linux; those of macOS and Windows ignore case anyway.
func mountCasefold(*testing.T, string) error { return errors.ErrUnsupported }

func serveCasefold() bool { return false }
