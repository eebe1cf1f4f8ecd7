package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"os"
	"slices"
)

// piece is a part of an executable, also compressed such that pieces can be
// concatenated in any order in one deflate stream.
type piece struct{ plain, packed []byte }

// pieceBytes is much larger than deflate's window, so that a file of many
// pieces compresses as badly as the original executable.
const pieceBytes = 256 << 10

// cut reads a file and compresses its pieces once for all
// packages, because compressing full-size packages would take minutes.
func cut(path string) ([]piece, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var pieces []piece
	for plain := range slices.Chunk(content, pieceBytes) {
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.DefaultCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(plain); err != nil {
			return nil, err
		}
		// Flush ends at a byte boundary and leaves the stream open.
		if err := w.Flush(); err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{plain, packed.Bytes()})
	}
	return pieces, nil
}

// writePackage writes an archive with one executable of about the given size.
func writePackage(path, executable string, pieces []piece, size int64) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var chosen []piece
	for n := int64(0); n < size; n += int64(len(chosen[len(chosen)-1].plain)) {
		chosen = append(chosen, pieces[len(chosen)%len(pieces)])
	}
	archive := zip.NewWriter(file)
	if err := writeEntry(archive, executable, chosen); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return file.Close()
}

// lastBlock is an empty final block, which ends a stream of pieces.
var lastBlock = []byte{0x03, 0x00}

func writeEntry(archive *zip.Writer, name string, pieces []piece) error {
	header := &zip.FileHeader{
		Name: name, Method: zip.Deflate,
		Flags:            0x8, // sizes come after the data, as in archives of release tools
		CompressedSize64: uint64(len(lastBlock)),
	}
	header.SetMode(0o755)
	for _, p := range pieces {
		header.CRC32 = crc32.Update(header.CRC32, crc32.IEEETable, p.plain)
		header.UncompressedSize64 += uint64(len(p.plain))
		header.CompressedSize64 += uint64(len(p.packed))
	}
	w, err := archive.CreateRaw(header)
	if err != nil {
		return err
	}
	for _, p := range pieces {
		if _, err := w.Write(p.packed); err != nil {
			return err
		}
	}
	_, err = w.Write(lastBlock)
	return err
}
