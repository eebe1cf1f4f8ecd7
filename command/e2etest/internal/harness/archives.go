package harness

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"testing"
)

// ZipEntry is one entry of a package archive.
type ZipEntry struct {
	Name, Content string
	Mode          fs.FileMode
	Stored        bool // not compressed
	FAT           bool // made on a system without modes
}

// ZipOf makes an archive of the entries, in their order.
func ZipOf(tb testing.TB, entries []ZipEntry) []byte {
	tb.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.Name, Method: zip.Deflate}
		if e.Stored {
			header.Method = zip.Store
		}
		if !e.FAT {
			header.SetMode(e.Mode)
		}
		w, err := archive.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(w, e.Content)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
