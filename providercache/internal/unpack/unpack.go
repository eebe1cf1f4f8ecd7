// Package unpack unpacks and hashes package archives, and rejects
// archives that break the rules in unpack.go.
//
//	archive, err := unpack.Open(file, size, provider, limits)
//	content, err := archive.Unpack(ctx, dir) // dir "": only hash
//
// [Stream] unpacks an archive while it is still being downloaded; Archive.Finish then
// accepts the result if the archive's directory lists the same entries; otherwise the
// archive is unpacked again. [HashStream] hashes an archive that isn't stored anywhere. An
// [*getproviders.Fault] names the [Rule] that an archive breaks, and the entry.
package unpack

// The rules for package archives. All published providers obey them; an
// error names the first rule that an archive breaks, and the entry.
//
//	 1. It is one whole zip archive: a central directory that can be read, nothing
//	    after its end, and nothing before the first entry.
//	 2. It has at least one entry, and no more than Limits.Files files
//	    and directories, those counted that are only parts of names.
//	 3. Names are text: UTF-8, no control characters (a newline could forge a
//	    line of the hash), at most 1000 bytes.
//	 4. Names stay inside: they are relative, with slashes; no "..", no
//	    backslash, no drive letter.
//	 5. Entries are files and empty directories; not links, devices, pipes.
//	 6. Names are unique, even where case doesn't count.
//	 7. No file is where another entry needs a directory.
//	 8. Entries are stored or deflated, and not encrypted.
//	 9. Their data lies before the directory and doesn't overlap, and the headers
//	    before it say the same as the directory.
//	10. Unpacked, they are no larger than Limits.Bytes in all, and, from
//	    64 MiB on, no larger than 200 times the archive: real ones have a
//	    ratio of about four.
//	11. Each has the size and the checksum that the archive says.
//	12. The provider's executable is among the files at the top.
//
// All rules but rule 11 are checked on the archive's directory, before anything is
// inflated by it. Inflating stops one byte after the promised size, so that no archive
// can occupy a terabyte. While an archive arrives, its directory isn't known yet:
// stream.go applies the limits of rules 2 and 10 to what it has read so far.

import (
	"context"
	"crypto/sha256"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/treehash"
)

// Content holds the hashes of the files of an archive.
type Content struct {
	H1 getproviders.Hash
	// H1Archive counts directory entries as files, and uses names as they are written.
	H1Archive getproviders.Hash
	Files     int // the number of files, without directories
}

// OtherH1 returns H1Archive if it differs from H1, else "".
func (u Content) OtherH1() getproviders.Hash {
	if u.H1Archive == u.H1 {
		return ""
	}
	return u.H1Archive
}

// Limits bounds the size of a package.
type Limits struct {
	Bytes int64 // size of one archive, and unpacked size of one package; at most 1<<62, so that sums don't overflow
	Files int   // entries of one package; at most 1<<30
}

// DefaultLimits returns the limits that apply unless others are set.
func DefaultLimits() Limits { return Limits{Bytes: 8 << 30, Files: 10_000} }

// Archive has the entries of an archive that keeps all rules that
// can be checked without inflating it.
type Archive []entry

// Open reads an archive's directory. from has to stay open.
func Open(from io.ReaderAt, size int64, p getproviders.Provider, limits Limits) (Archive, error) {
	entries, dir, err := readEntries(from, size, p, limits)
	if err == nil {
		err = dir.checkHeaders(from, entries)
	}
	return entries, err
}

// Finish completes the files that were unpacked while the archive arrived.
// ok is false if the archive's directory lists other entries.
func (o Archive) Finish(onTheWay Streamed, dir string) (content Content, ok bool, err error) {
	if !onTheWay.agrees(o) {
		return content, false, nil
	}
	content, err = onTheWay.finish(o, dir)
	return content, true, err
}

// Unpack unpacks the archive into a new directory, or only hashes its files if dir is "".
// Each byte is inflated once, and hashed while it is written. Nothing is written outside
// dir, whatever the archive says: besides the rules, os.Root prevents it.
func (o Archive) Unpack(ctx context.Context, dir string) (content Content, err error) {
	var into *os.Root
	if dir != "" {
		if err := patient.RemoveAll(dir); err != nil { // left by Stream
			return content, err
		}
		root, err := makeRoot(dir)
		if err != nil {
			return content, err
		}
		defer root.Close()
		into = root
	}
	buffer := make([]byte, chunks.Size)
	return digest(o, func(e entry) ([sha256.Size]byte, error) {
		if e.Dir {
			return sha256.Sum256(nil), e.mkdir(into)
		}
		return e.inflate(ctx, into, buffer)
	})
}

func makeRoot(dir string) (*os.Root, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// digest computes the hashes of a package from those of its entries.
func digest(entries []entry, sum func(entry) ([sha256.Size]byte, error)) (Content, error) {
	var files, all []treehash.File
	for _, e := range entries {
		content, err := sum(e)
		if err != nil {
			return Content{}, err
		}
		all = append(all, treehash.File{Name: e.File.Name, SHA256: content})
		if !e.Dir {
			files = append(files, treehash.File{Name: e.Name, SHA256: content})
		}
	}
	h1, err := treehash.H1(files)
	if err != nil {
		return Content{}, err
	}
	h1Archive, err := treehash.H1(all)
	return Content{h1, h1Archive, len(files)}, err
}
