package mirror

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
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
	root, names, err := treehash.Names(dir)
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
	for _, name := range names {
		digest, err := addFile(ctx, w, filepath.Join(root, name), name, read, buffer)
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

// addFile puts a file into the archive.
func addFile(ctx context.Context, w *zip.Writer, path, name string, read func(bytes int64), buffer []byte) (digest treehash.File, err error) {
	content, info, err := patient.OpenRegular(path)
	if err != nil {
		return digest, err
	}
	defer content.Close()
	header := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	header.SetMode(info.Mode().Perm())
	to, err := w.CreateHeader(header)
	if err != nil {
		return digest, err
	}
	return treehash.Copy(ctx, to, content, name, buffer, read)
}
