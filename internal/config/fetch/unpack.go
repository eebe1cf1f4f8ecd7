package fetch

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hashicorp/go-getter/v2"
	"github.com/mikelolasagasti/xz"
	"golang.org/x/text/unicode/norm"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// bounds are the limits of a package.
type bounds struct {
	download int64 // bytes of an archive
	unpacked int64 // bytes of all files
	files    int   // entries of an archive
}

// tarBytes returns the largest size of a tar archive, with its headers.
func (b bounds) tarBytes() int64 { return b.unpacked + int64(b.files)*4096 + 1<<20 }

// kindInside detects the kind of an archive from its content; "" if unknown.
func kindInside(file string) string {
	start := make([]byte, 6)
	if r, err := os.Open(file); err == nil {
		_, _ = io.ReadFull(r, start) // an unreadable file has no kind
		r.Close()
	}
	for magic, kind := range map[string]string{"PK": "zip", "\x1f\x8b": "tar.gz", "BZh": "tar.bz2", "\xfd7zXZ\x00": "tar.xz"} {
		if strings.HasPrefix(string(start), magic) {
			return kind
		}
	}
	return ""
}

// unpack unpacks an archive to a new directory. Symlinks, hard links and devices become regular
// files, so that nothing can be written through them, and names that lead out of the directory are
// errors.
func unpack(ctx context.Context, kind, file, dst string, b bounds) error {
	switch kind {
	case unnamed:
		kind = kindInside(file)
	case "tar.tbz2":
		kind = "tbz2"
	}
	if kind == "zip" {
		if err := checkZip(file, b); err != nil {
			return err
		}
	}
	if kind == "tar.xz" || kind == "txz" {
		plain := dst + ".tar"
		defer patient.Remove(plain)
		if err := unpackXz(ctx, file, plain, b); err != nil {
			return err
		}
		kind, file = "tar", plain
	}
	unpacker := getter.LimitedDecompressors(b.files, b.unpacked)[kind]
	if unpacker == nil {
		return fmt.Errorf("%w: archives of the kind %q can't be unpacked", ErrAddress, kind)
	}
	if runtime.GOOS == "windows" || ignoresCase(filepath.Dir(dst)) {
		if err := checkSpellings(ctx, kind, file, b); err != nil {
			return err
		}
	}
	if err := unpacker.Decompress(dst, file, true, 0o022); err != nil {
		_ = makeWritable(dst) // so that it can be removed
		return withoutPath(err, file)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return makeWritable(dst)
}

// maxDictionary is how much memory an archive may ask for to be decompressed, in bytes. It is what "xz -9" needs.
const maxDictionary = 64 << 20

// unpackXz decompresses a file to another. The archive library would read an xz file byte by byte,
// with a system call each: half a minute for 9 MB. It would also take all the memory that a header names.
func unpackXz(ctx context.Context, file, dst string, b bounds) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()

	var written int64
	unpacked, err := xz.NewReader(bufio.NewReaderSize(r, 64<<10), maxDictionary)
	if err == nil {
		written, err = writeFile(ctx, dst, 0o600, unpacked, b.tarBytes())
	}

	switch {
	case errors.Is(err, xz.ErrMemlimit):
		return fmt.Errorf("the archive needs more than %d MiB of memory to be decompressed: pack it again by \"xz -9\" or a lower level", maxDictionary>>20)
	case written > b.tarBytes():
		return fmt.Errorf("the archive is larger than %d bytes when it is unpacked", b.tarBytes())
	}
	return err
}

// withoutPath removes a file's temporary path from an error of go-getter, which has it in the text only.
func withoutPath(err error, file string) error {
	if text := err.Error(); strings.Contains(text, file) {
		return errors.New(strings.ReplaceAll(text, file, "the archive"))
	}
	return err
}

// checkZip refuses sizes whose sum overflows, which would bypass a limit.
func checkZip(file string, b bounds) error {
	r, err := zip.OpenReader(file)
	if err != nil {
		return err
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

// makeWritable makes sure that the user can read, change and remove an archive's files, and that
// others can't write to them.
func makeWritable(dir string) error {
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

// removeRepositories removes the directories and files of git and hg from a package, because their settings start
// programs when a user works there. File systems differ in which names are equal.
func removeRepositories(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.ToLower(strings.TrimRight(filepath.Base(path), ". "))
		if err != nil || path == dir || name != ".git" && name != ".hg" {
			return err
		}
		if err := patient.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
}

// ignoresCase reports whether a directory's file system ignores the case of names, as on macOS and
// Windows. It returns false if it can't tell.
func ignoresCase(dir string) bool {
	probe, err := os.CreateTemp(dir, ".tfdeps-case-")
	if err != nil {
		return false
	}
	defer patient.Remove(probe.Name())
	defer probe.Close()
	here, err := probe.Stat()
	if err != nil {
		return false
	}
	other, err := os.Lstat(filepath.Join(dir, strings.ToUpper(filepath.Base(probe.Name()))))
	return err == nil && os.SameFile(here, other)
}

// checkSpellings refuses an archive with two names that are the same file here, because they differ in case or Unicode normal
// form only: the second would overwrite the first, and the module would differ from other systems. It also refuses names that
// Windows changes. It doesn't read zst archives, which only servers can name.
func checkSpellings(ctx context.Context, kind, file string, b bounds) error {
	seen := map[string]string{}
	err := eachName(ctx, kind, file, b.tarBytes(), func(name string) error {
		if len(seen) > b.files {
			return nil // unpacking refuses it
		}
		for at := path.Clean(strings.ReplaceAll(name, "\\", "/")); at != "." && at != "/"; at = path.Dir(at) { // also compare directories
			if runtime.GOOS == "windows" && layout.WindowsRefuses(at) {
				return fmt.Errorf("the name %q isn't allowed on Windows", at)
			}
			folded := norm.NFC.String(strings.ToLower(at))
			if other, ok := seen[folded]; ok && other != at {
				return fmt.Errorf("%q and %q differ only in case or in how accents are encoded, and the file system here takes both for one", other, at)
			}
			seen[folded] = at
		}
		return nil
	})
	return cmp.Or(context.Cause(ctx), err)
}

// eachName calls f for the name of each entry, until it returns an error. It stops at unreadable
// content and after maxBytes: unpacking reports why.
func eachName(ctx context.Context, kind, file string, maxBytes int64, f func(string) error) error {
	if kind == "zip" {
		r, err := zip.OpenReader(file)
		if err != nil {
			return nil
		}
		defer r.Close()
		for _, entry := range r.File {
			if err := f(entry.Name); err != nil {
				return err
			}
		}
		return nil
	}
	r, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer r.Close()
	var content io.Reader = bufio.NewReader(r)
	switch kind {
	case "tar.gz", "tgz":
		if content, err = gzip.NewReader(content); err != nil {
			return nil
		}
	case "tar.bz2", "tbz2":
		content = bzip2.NewReader(content)
	case "tar":
	default:
		return nil
	}
	for entries := tar.NewReader(io.LimitReader(chunks.NewReader(ctx, content), maxBytes)); ; {
		entry, err := entries.Next()
		if err != nil {
			return nil
		}
		if err := f(entry.Name); err != nil {
			return err
		}
	}
}
