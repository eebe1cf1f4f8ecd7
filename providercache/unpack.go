package providercache

// What a package archive may be. Providers as they are published obey these
// rules; the first one that an archive breaks is reported, with the entry.
//
//	 1. It is one whole zip archive: a central directory that can be read, and
//	    nothing after its end.
//	 2. It has at least one entry, and no more than Limits.PackageFiles files
//	    and directories, those counted that are only parts of names.
//	 3. Names are text: UTF-8, no control characters (a newline could forge a
//	    line of the hash), at most 1000 bytes.
//	 4. Names stay inside: they are relative, with slashes; no "..", no
//	    backslash, no drive letter.
//	 5. Entries are files and empty directories; not links, devices, pipes.
//	 6. Names are unique, even where case doesn't count.
//	 7. No file is where another entry needs a directory.
//	 8. Entries are stored or deflated, and not encrypted.
//	 9. Their data lies inside the archive and doesn't overlap.
//	10. Unpacked, they are no larger than Limits.PackageBytes in all, and, from
//	    64 MiB on, no larger than 200 times the archive: real ones have a
//	    ratio of about four.
//	11. Each has the size and the checksum that the archive says.
//	12. The provider's executable is among the files at the top.
//
// All but rule 11 are checked before the first byte is inflated, so an archive
// that says that it unpacks to a terabyte costs nothing; and inflating stops
// one byte after the size that was promised, so it can't keep it to itself.

import (
	"context"
	"crypto/sha256"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
)

// unpacked is what is known of the files of an archive.
type unpacked struct {
	H1 getproviders.Hash
	// H1Archive counts entries for directories as files, and takes names as
	// they are written.
	H1Archive getproviders.Hash
}

// unpack unpacks an archive into a new directory, or only hashes what is in it
// if dir is "". Each byte is inflated once, and hashed while it is written.
// Nothing is written outside dir, whatever the archive says: besides the
// rules, the system is asked to keep to dir.
func unpack(ctx context.Context, from archive, dir string, p getproviders.Provider, limits Limits) (unpacked, error) {
	file, err := os.Open(from.Path)
	if err != nil {
		return unpacked{}, err
	}
	defer file.Close()
	entries, err := readEntries(file, from.Size, p, limits)
	if err != nil {
		return unpacked{}, err
	}
	var into *os.Root
	if dir != "" {
		if into, err = makeRoot(dir); err != nil {
			return unpacked{}, err
		}
		defer into.Close()
	}
	return inflateAll(ctx, entries, into)
}

func makeRoot(dir string) (*os.Root, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// inflateAll unpacks entries that keep the rules. A nil directory stands for
// none.
func inflateAll(ctx context.Context, entries []entry, into *os.Root) (unpacked, error) {
	buffer := make([]byte, bufferBytes)
	var files, all []getproviders.FileDigest
	for _, e := range entries {
		digest := getproviders.FileDigest{Name: e.Name, SHA256: sha256.Sum256(nil)}
		var err error
		if e.Dir {
			err = e.mkdir(into)
		} else {
			digest.SHA256, err = e.inflate(ctx, into, buffer)
			files = append(files, digest)
		}
		if err != nil {
			return unpacked{}, err
		}
		digest.Name = e.File.Name
		all = append(all, digest)
	}
	h1, err := getproviders.H1(files)
	if err != nil {
		return unpacked{}, err
	}
	h1Archive, err := getproviders.H1(all)
	return unpacked{h1, h1Archive}, err
}
