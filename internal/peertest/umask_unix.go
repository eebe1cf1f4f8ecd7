//go:build unix

package peertest

import "syscall"

// UsualUmask lets what this process and its children make be writable by their
// user only, whatever the umask of who runs the tests: receipts don't count for
// a cache that a group can write to. It is for TestMain.
func UsualUmask() { syscall.Umask(0o022) }
