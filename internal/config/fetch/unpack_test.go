package fetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// filled replaces limits of 0 by limits that these archives don't reach.
func (b bounds) filled() bounds {
	return bounds{download: cmp.Or(b.download, 1<<30), unpacked: cmp.Or(b.unpacked, 1<<30), files: cmp.Or(b.files, 1000)}
}

// unpacked unpacks an archive below an empty directory.
func unpacked(t testing.TB, kind string, archive []byte, b bounds) (around, dst string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "archive")
	must.Write(t, file, archive)
	around = t.TempDir()
	dst = filepath.Join(around, "package")
	return around, dst, unpack(t.Context(), kind, file, dst, b.filled())
}

func TestUnpack_HostileArchives(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct { // a name begins with the kind of the archive
		archive []byte
		want    map[string]string // nil: it is refused
	}{
		"tgz, parent":          {tarred(t, tar.Header{Name: "../x"}), nil},
		"tgz, parent within":   {tarred(t, tar.Header{Name: "a/../../x"}), nil},
		"tgz, parent dir":      {tarred(t, tar.Header{Name: "../d/", Typeflag: tar.TypeDir}, tar.Header{Name: "x"}), nil},
		"tgz, absolute":        {tarred(t, tar.Header{Name: "/x"}), map[string]string{"x": ""}},
		"tgz, symlink":         {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}), map[string]string{"l": ""}},
		"tgz, through symlink": {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, tar.Header{Name: "l/x"}), nil},
		"tgz, hard link":       {tarred(t, tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}), map[string]string{"l": ""}},
		"tgz, device":          {tarred(t, tar.Header{Name: "d", Typeflag: tar.TypeBlock, Devmajor: 8}), map[string]string{"d": ""}},
		"tgz, pipe":            {tarred(t, tar.Header{Name: "p", Typeflag: tar.TypeFifo}), map[string]string{"p": ""}},
		"tgz, modes": {tarred(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir, Mode: 0o1}, tar.Header{Name: "d/a", Mode: 0o6777}, tar.Header{Name: "b", Mode: 0o4}),
			map[string]string{"d/a": "x ", "b": ""}},
		"zip, parent":   {zipped(t, map[string]string{"../x": ""}), nil},
		"zip, absolute": {zipped(t, map[string]string{"/x": "1"}), map[string]string{"x": "1"}},
		"zip, symlink":  {zippedLink(t, "l", "/etc/passwd"), map[string]string{"l": "x /etc/passwd"}},
		"zip, through":  {zippedLink(t, "l", "..", "l/x"), nil},
		"zip, empty":    {zipped(t, nil), nil},
		"zip, not one":  {[]byte("PK"), nil},
		"zip, size":     {zippedSizes(t, "\x00\x00\x00\x00", 1<<63), nil},
		"zip, sizes":    {zippedSizes(t, "\x00\x00\x00\x00", 1<<40), nil},
		"tgz, cut":      {providertest.TarGz(someTree)[:60], nil},
		"tgz, not one":  {[]byte("hello"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (strings.Contains(name, "modes") || name == "zip, symlink") {
				t.Skip("files have no modes there")
			}
			kind, _, _ := strings.Cut(name, ",")
			around, dst, err := unpacked(t, kind, c.archive, bounds{})
			if entries, err := os.ReadDir(around); err != nil || len(entries) > 1 {
				t.Errorf("outside of the package: %v, %v", entries, err)
			}
			if c.want == nil {
				must.Refuse(err)(t, name)
				return
			}
			must.Succeed(t, err)
			sameTree(t, peertest.Tree(t, dst), c.want)
			err = filepath.Walk(dst, func(path string, info fs.FileInfo, err error) error {
				if runtime.GOOS != "windows" && (info.Mode()&^(fs.ModeDir|0o755) != 0 || info.Mode()&0o600 != 0o600) {
					t.Errorf("%s has mode %v", path, info.Mode())
				}
				return err
			})
			must.Succeed(t, err)
		})
	}
}

func TestUnpack_ArchivesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": strings.Repeat("a", 1000), "b": strings.Repeat("b", 1000)}
	for kind, archive := range map[string][]byte{"zip": zipped(t, files), "tgz": providertest.TarGz(files)} {
		for _, c := range []struct {
			b    bounds
			fits bool
		}{{bounds{unpacked: 2000}, true}, {bounds{unpacked: 1999}, false}, {bounds{files: 1}, false}} {
			must.Equal(t, must.ErrorOf(unpacked(t, kind, archive, c.b)) == nil, c.fits, kind, c.b)
		}
	}
}

func TestUnpack_ErrorsDontSayWhereTheArchiveIsForTheMoment(t *testing.T) {
	t.Parallel()
	err := withoutPath(errors.New("empty archive: /tmp/x/archive"), "/tmp/x/archive")
	must.Equal(t, err.Error(), "empty archive: the archive")
}

// TestUnpack_XzIsReadThroughAFile: the decompressed archive is a temporary file, which has a limit
// of its own and is removed.
func TestUnpack_WhatFailsCanBeRemoved(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only to root")
	}
	archive := tarred(t, tar.Header{Name: "a/", Typeflag: tar.TypeDir, Mode: 0o1000}, tar.Header{Name: "a/b/", Typeflag: tar.TypeDir}, tar.Header{Name: "a/b/f"})
	around, _, err := unpacked(t, "tar.gz", archive, bounds{})
	must.Fail(t, err, fs.ErrPermission)
	must.Succeed(t, os.RemoveAll(filepath.Join(around, "package")))
}

func TestUnpack_XzIsReadThroughAFile(t *testing.T) {
	t.Parallel()
	var archive bytes.Buffer
	w := must.Get(xz.NewWriter(&archive))(t)
	must.Get(w.Write(plain(t, tarred(t, tar.Header{Name: "a", Linkname: string(make([]byte, 3<<20))}))))(t)
	must.Succeed(t, w.Close())
	for _, c := range []struct {
		kind    string
		archive []byte
		b       bounds
		want    string // in the error
	}{
		{"tar.xz", archive.Bytes(), bounds{}, "<nil>"},
		{"txz", archive.Bytes(), bounds{unpacked: 3 << 20, files: 5}, "<nil>"},
		{"txz", archive.Bytes(), bounds{unpacked: 3<<20 - 1}, "larger than"},
		{"txz", archive.Bytes(), bounds{unpacked: 1, files: 1}, "the archive is larger than"},
		{"txz", archive.Bytes()[:100], bounds{}, "truncated or corrupt"},
		{"txz", []byte("hello, I am no archive of this kind"), bounds{}, "xz"},
	} {
		around, dst, err := unpacked(t, c.kind, c.archive, c.b)
		must.Contain(t, fmt.Sprint(err), c.want, c.kind, c.b)
		if entries, err := os.ReadDir(around); err != nil || len(entries) > 1 || len(entries) == 1 && entries[0].Name() != filepath.Base(dst) {
			t.Errorf("%s, %+v: there are %v, %v", c.kind, c.b, entries, err)
		}
	}
}

// TestUnpack_TakesLittleMemory has archives of a few bytes whose headers ask for gigabytes.
func TestUnpack_TakesLittleMemory(t *testing.T) {
	t.Parallel()
	content := plain(t, tarred(t, tar.Header{Name: "a", Linkname: "text"}))
	for dictionary, fits := range map[int]bool{64 << 20: true, 64<<20 + 1: false, 1 << 30: false, 3 << 30: false} {
		var archive bytes.Buffer
		w := must.Get(xz.WriterConfig{DictCap: 4096}.NewWriter(&archive))(t)
		must.Get(w.Write(content))(t)
		must.Succeed(t, w.Close())

		_, _, err := unpacked(t, "tar.xz", withDictionary(t, archive.Bytes(), dictionary), bounds{})
		if fits {
			must.Succeed(t, err)
		} else {
			must.Contain(t, err, "needs more than 64 MiB of memory")
		}
	}
}

// FuzzUnpackXz has no input take more than the limits, or end the process.
func FuzzUnpackXz(f *testing.F) {
	for _, content := range []string{"", "text", strings.Repeat("text and more of it, ", 1000)} {
		var archive bytes.Buffer
		w := must.Get(xz.NewWriter(&archive))(f)
		must.Get(io.WriteString(w, content))(f)
		must.Succeed(f, w.Close())
		f.Add(archive.Bytes())
	}
	limits := bounds{unpacked: 1 << 20, files: 1}
	f.Fuzz(func(t *testing.T, archive []byte) {
		dir := t.TempDir()
		file, dst := filepath.Join(dir, "archive"), filepath.Join(dir, "content")
		must.Succeed(t, os.WriteFile(file, archive, 0o600))

		err := unpackXz(t.Context(), file, dst, limits)

		info, missing := os.Stat(dst)
		if err == nil && (missing != nil || info.Size() > limits.tarBytes()) {
			t.Errorf("%v, %v", info, missing)
		}
	})
}

// withDictionary changes how large a dictionary the header of an xz archive's block asks for: at least so many bytes.
func withDictionary(t *testing.T, archive []byte, size int) []byte {
	t.Helper()
	const block = 12 // behind the header of the stream
	length := (int(archive[block]) + 1) * 4
	header := archive[block : block+length]
	filter := bytes.Index(header, []byte{0x21, 1}) // LZMA2, with one byte of properties
	if filter < 0 {
		t.Fatalf("no filter in %x", header)
	}

	bits := byte(0)
	for bits < 40 && (2|int(bits)&1)<<(bits/2+11) < size {
		bits++
	}
	header[filter+2] = bits
	binary.LittleEndian.PutUint32(header[length-4:], crc32.ChecksumIEEE(header[:length-4]))
	return archive
}

// zippedLink makes an archive with a symlink and other files.
func zippedLink(t testing.TB, name, target string, files ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	header := &zip.FileHeader{Name: name}
	header.SetMode(fs.ModeSymlink | 0o777)
	must.Get(must.Get(w.CreateHeader(header))(t).Write([]byte(target)))(t)
	for _, file := range files {
		must.Get(w.Create(file))(t)
	}
	must.Succeed(t, w.Close())
	return buf.Bytes()
}

// zippedSizes makes an archive whose directory claims these sizes for its files, "a" and so on.
func zippedSizes(t testing.TB, content string, sizes ...uint64) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i, size := range sizes {
		header := &zip.FileHeader{Name: string(rune('a' + i)), UncompressedSize64: size, CompressedSize64: uint64(len(content))}
		must.Get(must.Get(w.CreateRaw(header))(t).Write([]byte(content)))(t)
	}
	must.Succeed(t, w.Close())
	return buf.Bytes()
}

// The directory of a zip archive contains the sizes of its files. An attacker can make the sum of
// these sizes small, and their number large.
func TestCheckZip_AddsUpSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sizes []uint64
		fits  bool
	}{
		"as much as may be": {[]uint64{60, 40}, true},
		"one too many":      {[]uint64{60, 40, 1}, false},
		"one alone":         {[]uint64{101}, false},
		"overflow":          {[]uint64{1 << 63, 1 << 63, 1}, false},
		"negative":          {[]uint64{1<<64 - 1, 2}, false},
	} {
		file := filepath.Join(t.TempDir(), "archive.zip")
		must.Write(t, file, zippedSizes(t, "", c.sizes...))
		must.Equal(t, checkZip(file, bounds{unpacked: 100}) == nil, c.fits, name)
	}
}
