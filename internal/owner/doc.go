// Package owner reports whether files belong to the user who runs this program, and whether other users can
// write to them. Receipts, state files, hard links and the stores of modules are trusted only if others
// can't. It is shared by several packages of this module; it isn't an API for others.
//
// The information depends on the system: on Unix it is the owner and the mode, on Windows the access list.
// On other systems, files count as other users', so that nothing is trusted.
package owner
