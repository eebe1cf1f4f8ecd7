//go:build !unix

package git

import "os/exec"

// ownGroup does nothing: Windows has no process groups for signals. Child processes end when git
// has ended and its pipes are closed.
func ownGroup(*exec.Cmd) (stopAll func()) { return func() {} }
