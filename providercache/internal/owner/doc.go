// Package owner says whether files belong to the user who runs this program, and
// whether other users can write to them. Receipts, state files and hard links are
// trusted only where they can't.
//
// Systems differ in what they tell: on Unix it is the owner and the mode, on Windows
// the access list. Where nothing is known, files count as other users', so that
// nothing is trusted.
package owner
