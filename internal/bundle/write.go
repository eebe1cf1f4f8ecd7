package bundle

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// errChanged means that a file changed between its two reads.
var errChanged = errors.New("the file has changed while it was read")

// Write writes an archive of files in dir. Of each entry it takes Path, Link and Executable, and
// determines the size and the checksum itself. It refuses what [Unpack] would refuse, except that
// it doesn't know which paths Unpack's caller expects.
func Write(ctx context.Context, w io.Writer, dir string, files []Entry) (Manifest, error) {
	entries, errs := par.Map(ctx, runtime.GOMAXPROCS(0), files, func(ctx context.Context, e Entry) (Entry, error) {
		return e.measured(ctx, dir)
	})
	if err := errors.Join(errs...); err != nil {
		return Manifest{}, err
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	m := Manifest{FormatVersion: formatVersion, Files: entries}
	if m.Files == nil {
		m.Files = []Entry{}
	}
	if err := m.check(); err != nil {
		return Manifest{}, err
	}
	return m, m.write(ctx, w, dir)
}

// measured returns the entry with its size and checksum.
func (e Entry) measured(ctx context.Context, dir string) (Entry, error) {
	if e.Link != "" {
		return e, nil
	}
	sum := sha256.New()
	size, err := e.copyTo(ctx, sum, dir)
	e.Size, e.SHA256 = size, hex.EncodeToString(sum.Sum(nil))
	return e, err
}

func (e Entry) copyTo(ctx context.Context, w io.Writer, dir string) (int64, error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(e.Path)))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return io.Copy(w, chunks.NewReader(ctx, file))
}

// write writes the archive itself.
func (m Manifest) write(ctx context.Context, w io.Writer, dir string) error {
	content, err := wholefile.JSON(m) // the same bytes for the same manifest
	if err != nil {
		return err
	}
	if len(content) > maxManifestBytes {
		return fmt.Errorf("there are too many files for one archive: %s has more than %d bytes", ManifestName, maxManifestBytes)
	}
	archive := tar.NewWriter(w)
	manifest := Entry{Path: ManifestName, Size: int64(len(content))}
	if err := archive.WriteHeader(manifest.header()); err != nil {
		return err
	}
	if _, err := archive.Write(content); err != nil {
		return err
	}
	for _, e := range m.Files {
		if err := e.write(ctx, archive, dir); err != nil {
			return err
		}
	}
	return archive.Close()
}

// header returns the tar header of an entry, without anything that differs between machines.
func (e Entry) header() *tar.Header {
	h := &tar.Header{Name: e.Path, Typeflag: tar.TypeReg, Size: e.Size, Mode: 0o644, Linkname: e.Link}
	switch {
	case e.Link != "":
		h.Typeflag, h.Mode = tar.TypeSymlink, 0o777
	case e.Executable:
		h.Mode = 0o755
	}
	return h
}

func (e Entry) write(ctx context.Context, archive *tar.Writer, dir string) error {
	if err := archive.WriteHeader(e.header()); err != nil || e.Link != "" {
		return err
	}
	sum := sha256.New()
	size, err := e.copyTo(ctx, io.MultiWriter(archive, sum), dir)
	if errors.Is(err, tar.ErrWriteTooLong) || err == nil && (size != e.Size || hex.EncodeToString(sum.Sum(nil)) != e.SHA256) {
		err = errChanged
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Path, err)
	}
	return nil
}
