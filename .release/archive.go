package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file in an archive. Its name is a path with slashes, below the archive's only top directory.
type file struct {
	name       string
	content    []byte
	executable bool
}

func (f file) mode() int64 {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// baseName returns the beginning of the names of a platform's files.
func baseName(version string, p platform) string {
	return "tfdeps_" + strings.TrimPrefix(version, "v") + "_" + p.String()
}

// archiveName returns the name of a platform's archive, in a format that the platform can unpack without
// other programs.
func archiveName(version string, p platform) string {
	if p.os == "windows" {
		return baseName(version, p) + ".zip"
	}
	return baseName(version, p) + ".tar.gz"
}

// writeArchive writes files below one directory into an archive, sorted by name. All entries have the same time, and
// belong to user 0.
func writeArchive(name, top string, files []file, at time.Time) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	write := writeTar
	if strings.HasSuffix(name, ".zip") {
		write = writeZip
	}
	if err := write(&b, top, files, at); err != nil {
		return err
	}
	return writeFile(name, b.Bytes())
}

func writeTar(w io.Writer, top string, files []file, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := tar.NewWriter(compressed)
	for _, dir := range directories(top, files) {
		header := tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(&header); err != nil {
			return err
		}
	}
	for _, f := range files {
		header := tar.Header{Typeflag: tar.TypeReg, Name: path.Join(top, f.name), Size: int64(len(f.content)), Mode: f.mode(), ModTime: at, Format: tar.FormatUSTAR}
		if err := out.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

func writeZip(w io.Writer, top string, files []file, at time.Time) error {
	out := zip.NewWriter(w)
	out.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		header := zip.FileHeader{Name: path.Join(top, f.name), Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(f.mode()))
		entry, err := out.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.content); err != nil {
			return err
		}
	}
	return out.Close()
}

// directories returns the directories of files, parents first.
func directories(top string, files []file) []string {
	all := []string{top}
	for _, f := range files {
		for dir := path.Dir(path.Join(top, f.name)); dir != top; dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// writeFile writes a new file that all users can read. It is an error if the file exists.
func writeFile(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// checksums returns the content of SHA256SUMS: a line for each file of a directory, in the format of sha256sum.
func checksums(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := checksum(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return b.String(), nil
}

func checksum(name string) (string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(content)), nil
}
