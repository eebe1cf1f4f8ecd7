package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// writeArchive packs the files of a package, and returns the h1 of what it packed. Equal packages
// give equal archives: files are sorted, have no times, and keep only their permission bits.
// read, if it isn't nil, is called with the number of bytes after each part.
func writeArchive(ctx context.Context, path, dir string, read func(bytes int64)) (h1 getproviders.Hash, err error) {
	files, err := filesOf(dir)
	if err != nil {
		return "", err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	w := zip.NewWriter(out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.DefaultCompression)
	})
	var digests []treehash.File
	buffer := make([]byte, chunks.Size)
	for _, f := range files {
		digest, err := f.add(ctx, w, read, buffer)
		if err != nil {
			return "", err
		}
		digests = append(digests, digest)
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return treehash.H1(digests)
}

// packageFile is one file of a package.
type packageFile struct{ name, path string }

// filesOf lists the files of a package as treehash.Dir does, sorted.
func filesOf(dir string) (files []packageFile, err error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		files = append(files, packageFile{filepath.ToSlash(name), path})
		return err
	})
	slices.SortFunc(files, func(a, b packageFile) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// add puts a file into the archive.
func (f packageFile) add(ctx context.Context, w *zip.Writer, read func(bytes int64), buffer []byte) (digest treehash.File, err error) {
	content, info, err := patient.OpenRegular(f.path)
	if err != nil {
		return digest, err
	}
	defer content.Close()
	header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(info.Mode().Perm())
	to, err := w.CreateHeader(header)
	if err != nil {
		return digest, err
	}
	sum := sha256.New()
	if _, err := chunks.Copy(ctx, io.MultiWriter(to, sum, counting(read)), content, buffer); err != nil {
		return digest, err
	}
	digest.Name = f.name
	sum.Sum(digest.SHA256[:0])
	return digest, nil
}

// counting is called with the number of bytes of each write.
type counting func(bytes int64)

// Write implements io.Writer.
func (c counting) Write(p []byte) (int, error) {
	if c != nil {
		c(int64(len(p)))
	}
	return len(p), nil
}
