package unpack

import (
	"bufio"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
)

const (
	// directoryTail is what the search for the directory's end reads.
	directoryTail = 128 << 10
	// directoryEntry is what an entry may have in the directory on average:
	// a fixed part of 46 bytes, its name, times, comments.
	directoryEntry = 512
	// endRecord is the size of the archive's last record, without comment,
	// and endSignature what it begins with.
	endRecord    = 22
	endSignature = 0x06054b50
	// localHeader is the size of what precedes an entry's data, without name
	// and further fields.
	localHeader = 30
)

// openZip reads the central directory, of which no more is read, and thus
// kept in memory, than the number of entries allows.
func openZip(r io.ReaderAt, size int64, maxEntries int) (*zip.Reader, directory, error) {
	bounded := &boundedReader{ReaderAt: r, left: directoryTail + int64(maxEntries)*directoryEntry}
	archive, err := zip.NewReader(bounded, size)
	if bounded.left < 0 {
		return nil, directory{}, broken(RuleEntries, "the archive's directory is too large")
	}
	if err != nil && archive == nil {
		return nil, directory{}, broken(RuleArchive, "%v", err)
	}
	bounded.off = true
	archive.RegisterDecompressor(zip.Deflate, newInflater)
	if err := checkEnd(r, size, len(archive.Comment)); err != nil {
		return nil, directory{}, err
	}
	d, err := readDirectory(r, size, archive)
	return archive, d, err
}

// checkEnd makes sure that the archive ends with its end record and the
// comment that belongs to it.
func checkEnd(r io.ReaderAt, size int64, comment int) error {
	var signature [4]byte
	_, err := r.ReadAt(signature[:], size-endRecord-int64(comment))
	if err != nil || binary.LittleEndian.Uint32(signature[:]) != endSignature {
		return broken(RuleArchive, "there is something after the end of the archive")
	}
	return nil
}

// newInflater is the standard library's, with a larger buffer. The faster one of the zip library
// accepts data that is none.
func newInflater(r io.Reader) io.ReadCloser {
	return flate.NewReader(bufio.NewReaderSize(r, 64<<10))
}

// boundedReader reads no more than so many bytes, until the bound is off.
type boundedReader struct {
	io.ReaderAt
	left int64 // < 0: more was wanted
	off  bool
}

// ReadAt implements io.ReaderAt.
func (b *boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if b.off {
		return b.ReaderAt.ReadAt(p, at)
	}
	b.left -= int64(len(p))
	if b.left < 0 {
		return 0, io.ErrShortBuffer
	}
	return b.ReaderAt.ReadAt(p, at)
}

// FindExecutable returns the path of a package's executable: the first file
// whose name is right.
func FindExecutable(dir string, p getproviders.Provider) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if !entry.IsDir() && layout.ExecutableName(p, entry.Name()) {
			return filepath.Join(dir, entry.Name()), nil
		}
	}
	return "", errNoExecutable(p)
}

func errNoExecutable(p getproviders.Provider) error {
	return fmt.Errorf("provider binary not found: could not find executable file starting with %s%s", layout.ExecutablePrefix, cmp.Or(p.Type, "TYPE"))
}
