package unpack

import (
	"bufio"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
)

const (
	// directoryTail is how much the search for the end record reads.
	directoryTail = 128 << 10
	// directoryEntry is how large an entry of the directory may be on
	// average: a fixed part of 46 bytes, its name, times, comments.
	directoryEntry = 512
	// endRecord is the size of the archive's last record, without
	// comment, and endSignature its first four bytes.
	endRecord    = 22
	endSignature = 0x06054b50
	// localHeader is the size of the header before an entry's data,
	// without name and further fields.
	localHeader = 30
)

// openZip reads the central directory. It reads, and keeps in
// memory, no more than maxEntries entries need.
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

// checkEnd makes sure that the archive ends with its end record and the comment of that.
func checkEnd(r io.ReaderAt, size int64, comment int) error {
	var signature [4]byte
	_, err := r.ReadAt(signature[:], size-endRecord-int64(comment))
	if err != nil || binary.LittleEndian.Uint32(signature[:]) != endSignature {
		return broken(RuleArchive, "there is something after the end of the archive")
	}
	return nil
}

// newInflater returns the standard library's decompressor, with a larger
// buffer. The faster one of the zip library accepts invalid data.
func newInflater(r io.Reader) io.ReadCloser {
	return flate.NewReader(bufio.NewReaderSize(r, 64<<10))
}

// boundedReader reads at most left bytes, until it is off.
type boundedReader struct {
	io.ReaderAt
	left int64 // < 0: the limit was exceeded
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

// FindExecutable returns the path of a package's executable: the first file with a valid name.
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

// directory has the offsets of the archive's directory and of the
// entries' headers, which the library doesn't export.
type directory struct {
	from    int64   // where the directory begins
	headers []int64 // where the entries begin, in the directory's order; nil for zip64 archives
}

const directoryHeader = 46 // of an entry in the directory, without name and further fields

// readDirectory reads the offsets in an archive whose end record has
// been found. Those of zip64 archives are left to the library.
func readDirectory(r io.ReaderAt, size int64, archive *zip.Reader) (directory, error) {
	var end [endRecord]byte
	at := size - endRecord - int64(len(archive.Comment))
	if _, err := r.ReadAt(end[:], at); err != nil {
		return directory{}, broken(RuleArchive, "%v", err)
	}
	count, length, from := binary.LittleEndian.Uint16(end[10:]), binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	if count == math.MaxUint16 || length == math.MaxUint32 || from == math.MaxUint32 {
		return directory{from: at}, nil
	}
	d := directory{from: int64(from)}
	if d.from+int64(length) != at {
		return d, broken(RuleArchive, "its directory isn't where its end says: it may be two archives in one")
	}
	next := d.from
	for range archive.File {
		var header [directoryHeader]byte
		if _, err := r.ReadAt(header[:], next); err != nil {
			return d, broken(RuleArchive, "%v", err)
		}
		short := func(at int) int64 { return int64(binary.LittleEndian.Uint16(header[at:])) }
		offset := binary.LittleEndian.Uint32(header[42:])
		if offset == math.MaxUint32 {
			return directory{from: d.from}, nil
		}
		d.headers = append(d.headers, int64(offset))
		next += directoryHeader + short(28) + short(30) + short(32)
	}
	if len(d.headers) > 0 && slices.Min(d.headers) != 0 {
		return d, broken(RuleArchive, "there is something before its first entry")
	}
	return d, nil
}

// checkHeaders compares the headers before the entries with the directory: programs
// that read archives from their beginning have to see the same package.
func (d directory) checkHeaders(r io.ReaderAt, entries []entry) error {
	for i, at := range d.headers {
		var fixed [localHeader]byte
		e := entries[i]
		name := make([]byte, len(e.File.Name))
		_, err := r.ReadAt(fixed[:], at)
		if err == nil {
			_, err = r.ReadAt(name, at+localHeader)
		}
		before, length, _ := parseLocalHeader(fixed)
		listed := e.File.FileHeader
		if before.Name = string(name); before.Flags&flagDescriptor != 0 { // the sizes and the checksum come after the data
			before.CRC32, before.CompressedSize64, before.UncompressedSize64 = listed.CRC32, listed.CompressedSize64, listed.UncompressedSize64
		}
		if err != nil || length != len(name) || !sameHeader(before, listed) {
			return breaks(e.File, RuleData, "is another one in the archive's directory than before its data")
		}
	}
	return nil
}
