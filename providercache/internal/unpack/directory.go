package unpack

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zip"
)

// directory says where an archive has its directory, and where that says that entries begin.
// The library keeps it to itself.
type directory struct {
	from    int64   // where the directory begins
	headers []int64 // where the entries begin, in the directory's order; nil: in the form for huge archives
}

const directoryHeader = 46 // of an entry in the directory, without name and further fields

// readDirectory reads the offsets of an archive whose end record has been found. Archives in the
// form for more than 4 GiB are left to the library.
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

// checkHeaders compares the headers before the entries with the directory: programs that read
// archives from their beginning have to see the same package.
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
