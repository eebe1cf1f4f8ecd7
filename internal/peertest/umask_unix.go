//go:build unix

package peertest

import "syscall"

// UsualUmask makes new files of this process and its children writable only for their user,
// whatever the tester's umask: receipts aren't trusted in a cache that a group can write to. It is
// for TestMain.
func UsualUmask() { syscall.Umask(0o022) }
