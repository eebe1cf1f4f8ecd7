//go:build !unix

package peertest

// UsualUmask does nothing: there is no umask here.
func UsualUmask() {}
