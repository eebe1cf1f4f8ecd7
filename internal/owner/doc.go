// Package owner says whether files belong to the user who runs this program, and
// whether other users can write to them. Receipts, state files, hard links and the stores of modules are
// trusted only where they can't. It is shared by several packages of this module, and is no API for others.
//
// Systems differ in what they tell: on Unix it is the owner and the mode, on Windows
// the access list. Where nothing is known, files count as other users', so that
// nothing is trusted.
package owner
