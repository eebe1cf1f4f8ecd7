//go:build !linux

package command

import (
	"errors"
	"testing"
)

// mountCasefold returns an error on other systems than Linux; macOS and Windows are case-insensitive anyway.
func mountCasefold(*testing.T, string) error { return errors.ErrUnsupported }

func serveCasefold() bool { return false }
