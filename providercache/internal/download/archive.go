package download

import (
	"crypto/sha256"
	"os"
	"time"
)

// Archive is a package archive that has been downloaded completely, to a path that
// other users can't write to.
type Archive struct {
	Path   string
	Size   int64
	SHA256 [sha256.Size]byte
	// Modified is when the archive was changed last, as its server or the file system
	// says; zero: not known.
	Modified time.Time
	File     *partialFile // open; nil in tests that don't need it
}

// IsAt makes sure that a file which was opened by the archive's path is the one that
// was written.
func (a Archive) IsAt(file *os.File) error {
	if a.File == nil {
		return nil
	}
	return a.File.isAt(file)
}

// Keep closes the file, and leaves it for a later run if that can use it.
func (a Archive) Keep() {
	if a.File != nil {
		a.File.keep(true)
	}
}

// Discard closes the file, and removes it unless it goes with the staging directory.
func (a Archive) Discard() {
	if a.File != nil {
		a.File.discard()
	}
}
