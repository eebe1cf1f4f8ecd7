package unpack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"slices"

	"github.com/klauspost/compress/zip"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
)

func (e entry) mkdir(into *os.Root) error {
	if into == nil {
		return nil
	}
	return into.MkdirAll(e.Name, 0o755)
}

// inflate writes a file and returns its SHA-256.
func (e entry) inflate(ctx context.Context, into *os.Root, buffer []byte) (sum [sha256.Size]byte, err error) {
	source, err := e.File.Open()
	if err != nil {
		return sum, breaks(e.File, RuleContent, "can't be read: %v", err)
	}
	defer source.Close()
	promised := int64(e.File.UncompressedSize64)
	reader := &chunks.Marking{Reader: source} // an archive's fault isn't that of the disk
	crc := crc32.NewIEEE()                    // the library doesn't compare a checksum that is 0
	size, sum, err := e.write(into, func(w io.Writer) (int64, error) {
		return chunks.Copy(ctx, io.MultiWriter(crc, w), io.LimitReader(reader, promised+1), buffer)
	})
	switch {
	case reader.Err != nil:
		return sum, breaks(e.File, RuleContent, "can't be read: %v", reader.Err)
	case err == nil && size != promised:
		return sum, breaks(e.File, RuleContent, "has another size than the archive says")
	case err == nil && crc.Sum32() != e.File.CRC32:
		return sum, breaks(e.File, RuleContent, "has another checksum than the archive says")
	}
	return sum, err
}

// write makes a new file with what content writes, or only hashes it if into is
// nil. It returns the number of bytes that content returned, and their SHA-256.
func (e entry) write(into *os.Root, content func(io.Writer) (int64, error)) (size int64, sum [sha256.Size]byte, err error) {
	hash := sha256.New()
	var target io.Writer = hash
	if into != nil {
		file, createErr := e.create(into)
		if createErr != nil {
			return 0, sum, createErr
		}
		defer func() { err = cmp.Or(err, file.Close()) }()
		target = io.MultiWriter(file, hash)
	}
	size, err = content(target)
	hash.Sum(sum[:0])
	return size, sum, err
}

// create makes the file, which must not exist, with the archive's mode. As in Terraform
// and OpenTofu, the umask doesn't apply, and set-user-ID bits are dropped.
func (e entry) create(into *os.Root) (*os.File, error) {
	if parent := path.Dir(e.Name); parent != "." {
		if err := into.MkdirAll(parent, 0o755); err != nil {
			return nil, err
		}
	}
	file, err := into.OpenFile(e.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Chmod(e.File.Mode().Perm()); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Rule is one of the rules for package archives, by its number in the list of
// unpack.go. An error about an archive matches the Rule that it breaks.
type Rule int

// The rules.
const (
	RuleArchive    Rule = iota + 1 // one whole zip archive
	RuleEntries                    // at least one entry, and not too many
	RuleNameText                   // names are text
	RuleNamePath                   // names stay inside
	RuleKind                       // files and directories only
	RuleUnique                     // no name twice
	RuleTree                       // no file where a directory is needed
	RuleMethod                     // stored or deflated, not encrypted
	RuleData                       // data inside the archive, without overlap
	RuleSize                       // not too large
	RuleContent                    // size and checksum as promised
	RuleExecutable                 // the provider's executable is there
)

// Error implements error.
func (r Rule) Error() string { return fmt.Sprintf("package archive breaks rule %d", int(r)) }

// broken returns an error for an archive that breaks a rule: the error matches the rule.
func broken(rule Rule, format string, args ...any) error {
	return &getproviders.Fault{
		Code: "invalid_package", Kind: rule, Err: fmt.Errorf("invalid package archive: "+format, args...),
		Hint: "the package was published wrongly, or something else was downloaded in its place: don't use it, and tell the provider's publisher",
	}
}

// breaks is broken for an entry; format is the rest of a sentence about it.
func breaks(f *zip.File, rule Rule, format string, args ...any) error {
	return broken(rule, "entry %q "+format, slices.Concat([]any{f.Name}, args)...)
}
