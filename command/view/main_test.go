package view

import (
	"testing"

	"go.uber.org/goleak"
)

// Bars are drawn by goroutines of a library. None may be left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
