//go:build !unix

package providertest

// UsualUmask does nothing: there is no umask here.
func UsualUmask() {}
