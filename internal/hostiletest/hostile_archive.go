package hostiletest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io/fs"
)

// HostileArchive is an archive that no publisher would make.
type HostileArchive struct {
	Bare    bool           `json:"bare"` // no honest executable precedes Entries
	Entries []HostileEntry `json:"entries"`
	Twice   bool           `json:"twice"` // the archive is followed by a copy of itself
	Cut     int            `json:"cut"`   // bytes missing at the end
	Edits   []HostileEdit  `json:"edits"` // edits of the archive's bytes
}

// HostileEntry is a file in an archive.
type HostileEntry struct {
	Name    string `json:"name"`
	Hex     string `json:"hex"`  // bytes after Name, which JSON can't hold
	Type    string `json:"type"` // "" means a file; "directory", "link", "device", "pipe", "socket", "setuid"
	Content string `json:"content"`
	Times   int    `json:"times"`  // number of copies; %d in Name is the number of each
	Zeros   int    `json:"zeros"`  // megabytes of zeros in place of Content
	Claims  uint64 `json:"claims"` // the size in the headers; 0 means the true one
}

var entryTypes = map[string]fs.FileMode{
	"": 0o755, "directory": fs.ModeDir | 0o755, "link": fs.ModeSymlink | 0o777, "device": fs.ModeDevice | 0o600,
	"pipe": fs.ModeNamedPipe | 0o600, "socket": fs.ModeSocket | 0o600, "setuid": fs.ModeSetuid | 0o755,
}

func (a HostileArchive) bytes() ([]byte, error) {
	entries := a.Entries
	if !a.Bare {
		entries = append([]HostileEntry{{Name: "terraform-provider-tiny_v1.0.0", Content: "not a real provider\n"}}, entries...)
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, entry := range entries {
		for i := range max(entry.Times, 1) {
			if err := entry.add(w, i); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	content := archive.Bytes()
	if a.Twice {
		content = append(content, content...)
	}
	edit, err := editor(a.Edits, func(text string) string { return text })
	if err != nil {
		return nil, err
	}
	if edit != nil {
		content = edit(content)
	}
	return content[:max(len(content)-a.Cut, 0)], nil
}

func (e HostileEntry) add(w *zip.Writer, number int) error {
	more, err := hex.DecodeString(e.Hex)
	if err != nil {
		return err
	}
	name := e.Name + string(more)
	if e.Times > 0 {
		name = fmt.Sprintf(e.Name, number)
	}
	mode, known := entryTypes[e.Type]
	if !known {
		return fmt.Errorf("there are no entries of the type %q", e.Type)
	}
	content, deflated := []byte(e.Content), deflate([]byte(e.Content))
	if e.Zeros > 0 {
		deflated = deflatedZeros(e.Zeros)
	}
	header := &zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(len(deflated)), UncompressedSize64: uint64(len(content) + e.Zeros<<20),
	}
	if e.Claims > 0 {
		header.UncompressedSize64 = e.Claims
	}
	header.SetMode(mode)
	if mode.IsDir() {
		header.Method, header.CompressedSize64, header.UncompressedSize64, deflated = zip.Store, 0, 0, nil
	}
	entry, err := w.CreateRaw(header)
	if err == nil {
		_, err = entry.Write(deflated)
	}
	return err
}

func deflate(content []byte) []byte {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	must(err)
	_, err = w.Write(content)
	must(err)
	must(w.Close())
	return out.Bytes()
}

// deflatedZeros deflates megabytes of zeros: it compresses one and repeats the result.
func deflatedZeros(megabytes int) []byte {
	var one bytes.Buffer
	w, err := flate.NewWriter(&one, flate.BestSpeed)
	must(err)
	_, err = w.Write(make([]byte, 1<<20))
	must(err)
	must(w.Flush())
	all := bytes.Repeat(one.Bytes(), megabytes)
	one.Reset()
	must(w.Close())
	return append(all, one.Bytes()...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
