package bundle

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// Options are the options of Unpack.
type Options struct {
	Dir          string // the destination; it must exist
	ArchiveBytes int64  // the size of the archive; 0: unknown

	// Unit returns the unit of a file, which is replaced as a whole: the file's own path, or that
	// of a directory above it, slash-separated; the same for all files below that directory. ok is
	// false for a path where no file belongs. Required.
	Unit func(path string) (unit string, ok bool)
	// Accept checks the unpacked files in their temporary directory before any of them is
	// published, and may replace some. If it returns an error, nothing is published. nil accepts
	// everything.
	Accept func(dir string) error
	// Last are units that are published after all others, in this order.
	Last []string
}

// Unpack reads an archive to its end and verifies all of it; then it publishes the files. If it
// fails, the directory is as it was before.
func Unpack(ctx context.Context, r io.Reader, opts Options) (Manifest, error) {
	r = chunks.NewReader(ctx, r)
	archive := tar.NewReader(r)
	m, err := readManifest(archive)
	if err != nil {
		return Manifest{}, err
	}
	for _, e := range m.Files {
		if unit, ok := opts.Unit(e.Path); !ok || unit != e.Path && !strings.HasPrefix(e.Path, unit+"/") {
			return Manifest{}, fmt.Errorf("%q doesn't belong in such an archive", e.Path)
		}
	}
	room, known := disk.Room(opts.Dir)
	if !known {
		room = math.MaxInt64
	}
	if err := m.fits(opts.ArchiveBytes, room); err != nil {
		return Manifest{}, err
	}

	stage, err := scratch.Make(opts.Dir)
	if err != nil {
		return Manifest{}, err
	}
	defer stage.Remove()
	if info, err := os.Stat(stage.Path); err == nil {
		scratch.Sweep(opts.Dir, info.ModTime()) // the current time by the file system's clock
	}
	if err := m.extract(archive, stage.Path); err != nil {
		return Manifest{}, err
	}
	if err := onlyZeros(r); err != nil {
		return Manifest{}, err
	}
	if opts.Accept != nil {
		if err := opts.Accept(filepath.Join(stage.Path, contentDir)); err != nil {
			return Manifest{}, err
		}
	}
	return m, publish(ctx, m.units(opts), stage.Path, opts.Dir)
}

func readManifest(archive *tar.Reader) (Manifest, error) {
	header, err := archive.Next()
	if err != nil {
		return Manifest{}, fmt.Errorf("it is not a tar archive, or it is empty: %w", err)
	}
	if header.Name != ManifestName || header.Typeflag != tar.TypeReg || header.Size > maxManifestBytes || isSparse(header) {
		return Manifest{}, fmt.Errorf("it is another archive than one that vendor makes: its first entry is %q instead of %q", header.Name, ManifestName)
	}
	content, err := io.ReadAll(io.LimitReader(archive, maxManifestBytes))
	if err != nil {
		return Manifest{}, err
	}
	return DecodeManifest(content)
}

// fits returns an error if the files are larger than the archive that they come from, or than the room for them. The archive
// has them uncompressed. An archiveBytes of 0 isn't known.
func (m Manifest) fits(archiveBytes, room int64) error {
	var size int64
	for _, e := range m.Files {
		size += e.Size // check has bounded the sum
	}

	switch {
	case archiveBytes > 0 && size > archiveBytes:
		return fmt.Errorf("%s lists files of %d bytes, and the archive has only %d", ManifestName, size, archiveBytes)
	case size > room:
		return fmt.Errorf("the files have %d bytes, and %d are free on the disk", size, room)
	}
	return nil
}

// isSparse reports whether an entry has less content in the archive than its size says: a few bytes of it could fill the disk.
func isSparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return header.Typeflag == tar.TypeGNUSparse
}

// contentDir holds the files until they are published.
const contentDir = "content"

// extract writes the entries. Each has to be as the manifest says.
func (m Manifest) extract(archive *tar.Reader, stage string) error {
	if err := os.Mkdir(filepath.Join(stage, contentDir), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(stage, contentDir))
	if err != nil {
		return err
	}
	defer root.Close()
	for _, e := range m.Files {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil && isSparse(header) {
			err = errors.New("it is a sparse file, which vendor doesn't make")
		}
		if err == nil && !e.is(header) {
			err = fmt.Errorf("the entry there is %q, which differs from what %s says", header.Name, ManifestName)
		}
		if err == nil {
			err = e.extract(archive, root)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	if header, err := archive.Next(); err == nil {
		return fmt.Errorf("%s doesn't list %q", ManifestName, header.Name)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// is reports whether header is the entry's own.
func (e Entry) is(header *tar.Header) bool {
	want := e.header()
	return header.Name == want.Name && header.Typeflag == want.Typeflag && header.Size == want.Size && header.Linkname == want.Linkname
}

func (e Entry) extract(content io.Reader, root *os.Root) error {
	name := filepath.FromSlash(e.Path)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if e.Link != "" {
		return root.Symlink(filepath.FromSlash(e.Link), name)
	}
	mode := os.FileMode(0o644)
	if e.Executable {
		mode = 0o755
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, sum), content)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != e.SHA256 {
		return fmt.Errorf("its SHA-256 is %s, and should be %s", got, e.SHA256)
	}
	return nil
}

// onlyZeros reads what follows the end of an archive, and returns an error if it isn't zeros.
func onlyZeros(r io.Reader) error {
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		if len(bytes.Trim(buffer[:n], "\x00")) > 0 {
			return errors.New("there is data after the end of the archive")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
