//go:build !unix

package git

import "os/exec"

// ownGroup: there are no groups that a signal reaches. What git has started
// ends when git is gone and its pipes are closed.
func ownGroup(*exec.Cmd) (stopAll func()) { return func() {} }
