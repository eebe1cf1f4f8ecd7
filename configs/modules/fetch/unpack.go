package fetch

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-getter"
)

// bounds are what no package exceeds. Zero fields mean the defaults.
type bounds struct {
	download int64 // bytes of an archive; 4 GiB
	unpacked int64 // bytes of all files; 8 GiB
	files    int   // entries of an archive; 100 000
}

func (b bounds) withDefaults() bounds {
	return bounds{
		download: cmp.Or(b.download, 4<<30),
		unpacked: cmp.Or(b.unpacked, 8<<30),
		files:    cmp.Or(b.files, 100_000),
	}
}

// archiveKinds are the suffixes of archives. Like in the real tool, some are only
// known where a server, not the configuration, names the archive; and bz2,
// gz and xz are known, but never a directory.
func archiveKinds(hopped bool) []string {
	kinds := []string{"bz2", "gz", "tar.bz2", "tar.gz", "tar.tbz2", "tar.xz", "tbz2", "tgz", "txz", "xz", "zip"}
	if hopped {
		kinds = append(kinds, "tar", "tar.zst", "tzst", "zst")
	}
	return kinds
}

// decompressor returns what unpacks a kind of archive.
func decompressor(kind string, b bounds) getter.Decompressor {
	if kind == "tar.tbz2" {
		kind = "tbz2"
	}
	return getter.LimitedDecompressors(b.files, b.unpacked)[kind]
}

// unpack makes a directory of an archive. Symlinks, hard links and devices become
// ordinary files, so that nothing can be written through them, and what could
// lead out of the directory is an error.
func unpack(ctx context.Context, kind, file, dst string, b bounds) error {
	if kind == "zip" {
		if err := checkZip(file, b); err != nil {
			return err
		}
	}
	unpacker := decompressor(kind, b)
	if unpacker == nil {
		return fmt.Errorf("%w: nothing unpacks %q", ErrAddress, kind)
	}
	if err := unpacker.Decompress(dst, file, true, 0o022); err != nil {
		return withoutPath(err, file)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return settle(dst)
}

// withoutPath leaves out of an error where a file is for the moment.
func withoutPath(err error, file string) error {
	if text := err.Error(); strings.Contains(text, file) {
		return errors.New(strings.ReplaceAll(text, file, "the archive"))
	}
	return err
}

// checkZip refuses sizes that can't be added up: they would get past a limit.
func checkZip(file string, b bounds) error {
	r, err := zip.OpenReader(file)
	if err != nil {
		return withoutPath(err, file)
	}
	defer r.Close()
	left := uint64(b.unpacked)
	for _, entry := range r.File {
		if entry.UncompressedSize64 > left {
			return fmt.Errorf("the archive is larger than %d bytes when it is unpacked", b.unpacked)
		}
		left -= entry.UncompressedSize64
	}
	return nil
}

// settle makes sure that the user may read, change and remove what was in an
// archive, and takes away what lets others do so.
func settle(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm()&^0o022 | 0o600
		if d.IsDir() {
			mode |= 0o700
		}
		if mode == info.Mode()&^fs.ModeDir {
			return nil
		}
		return os.Chmod(path, mode)
	})
}
