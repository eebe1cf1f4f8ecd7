//go:build !unix

package peertest

// UsualUmask does nothing, as this system has no umask.
func UsualUmask() {}
