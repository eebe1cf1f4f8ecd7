package view

import (
	"testing"

	"go.uber.org/goleak"
)

// The library draws bars with goroutines. None may be left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
