package cachetest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash/crc32"
	"io/fs"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Widget is the provider that tests install.
var Widget = getproviders.Provider{Hostname: getproviders.Terraform("").DefaultHost, Namespace: "acme", Type: "widget"}

// WidgetFile is the name of Widget's executable.
const WidgetFile = "terraform-provider-widget"

// Item is an entry of an archive that a test makes. With zero fields it is an ordinary file.
type Item struct {
	Name    string
	Content string
	Mode    fs.FileMode // 0 means 0755
	Method  uint16      // if Raw is given
	Raw     []byte      // the compressed data; nil means Content, deflated
	Size    uint64      // the size in the header, if Raw is given
	Flags   uint16      // further flags
	Comment string
}

// ArchiveOf makes a zip archive of entries.
func ArchiveOf(tb testing.TB, items ...Item) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, it := range items {
		header := &zip.FileHeader{Name: it.Name, Method: zip.Deflate, Flags: it.Flags, Comment: it.Comment}
		header.SetMode(cmpOr(it.Mode, 0o755))
		if strings.HasSuffix(it.Name, "/") && it.Content == "" {
			header.Method = zip.Store
		}
		data, create := []byte(it.Content), w.CreateHeader
		if it.Raw != nil {
			data, create = it.Raw, w.CreateRaw
			header.Method, header.UncompressedSize64, header.CompressedSize64 = it.Method, it.Size, uint64(len(data))
			header.CRC32 = crc32.ChecksumIEEE([]byte(it.Content))
		}
		entry, err := create(header)
		if err == nil {
			_, err = entry.Write(data)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func cmpOr(mode, otherwise fs.FileMode) fs.FileMode {
	if mode == 0 {
		return otherwise
	}
	return mode
}

// Deflated compresses content.
func Deflated(tb testing.TB, content []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// ArchiveByGo makes an archive like most publishers' programs.
func ArchiveByGo(tb testing.TB, method uint16) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"LICENSE", WidgetFile} {
		header := &zip.FileHeader{Name: name, Method: method}
		header.SetMode(0o755)
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(bytes.Repeat([]byte(name), 100))
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// Good is an entry that makes a valid package of Widget.
var Good = Item{Name: WidgetFile, Content: "the provider"}

// TestProvider is Widget.
var TestProvider = Widget
