// Package must ends tests that can't go on.
package must

import "testing"

// Succeed ends the test with an error, if there is one.
func Succeed(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
