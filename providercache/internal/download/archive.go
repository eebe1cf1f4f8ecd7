package download

import (
	"crypto/sha256"
	"os"
)

// archive is a package archive that has been received: whole, and in a place
// that is private.
type Archive struct {
	Path   string
	Size   int64
	SHA256 [sha256.Size]byte
	File   *partialFile // open; nil in tests that have no use for it
}

// isAt makes sure that a file which was opened by the archive's path is the one that
// was written.
func (a Archive) IsAt(file *os.File) error {
	if a.File == nil {
		return nil
	}
	return a.File.isAt(file)
}

// keep closes the file, and leaves it for a later run if that can resume it.
func (a Archive) Keep() {
	if a.File != nil {
		a.File.keep(true)
	}
}

// discard closes the file, which goes with the staging directory or now.
func (a Archive) Discard() {
	if a.File != nil {
		a.File.discard()
	}
}
