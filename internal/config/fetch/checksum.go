package fetch

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/patient"
)

// checksum is the expected checksum of an archive: its kind and hex digits, or "file" and the URL
// of a list of checksums. The zero value means none.
type checksum struct{ kind, value string }

// digests are the kinds of checksums with their sizes in bytes.
var digests = []struct {
	kind string
	size int
	make func() hash.Hash
}{
	{"md5", md5.Size, md5.New},
	{"sha1", sha1.Size, sha1.New},
	{"sha256", sha256.Size, sha256.New},
	{"sha512", sha512.Size, sha512.New},
}

// parseChecksum reads the parameter checksum of an address. Without a kind, the length determines
// it.
func parseChecksum(text string) (sum checksum, err error) {
	if text == "" {
		return sum, nil
	}
	kind, value, found := strings.Cut(text, ":")
	if !found {
		kind, value = "", text
	}
	if kind == "file" {
		return checksum{kind, value}, nil
	}
	raw, err := hex.DecodeString(value)
	if err != nil {
		return sum, errors.New("the checksum is not in hex digits")
	}
	for _, digest := range digests {
		if len(raw) == digest.size && (kind == "" || strings.EqualFold(kind, digest.kind)) {
			return checksum{digest.kind, strings.ToLower(value)}, nil
		}
	}
	return sum, errors.New("the checksum must be one of md5, sha1, sha256 and sha512, and as long as these are")
}

// parseChecksums finds the checksum of a file in a list in the format of sha256sum or of the BSDs.
// A line without a name applies to any file.
func parseChecksums(list string, names []string) (checksum, bool) {
	for line := range strings.Lines(list) {
		text, name := "", ""
		switch field := strings.Fields(line); {
		case len(field) == 0:
			continue
		case len(field) == 4 && strings.HasPrefix(field[1], "(") && strings.HasSuffix(field[1], ")"):
			text, name = field[0]+":"+field[3], strings.Trim(field[1], "()")
		case len(field) == 2:
			text, name = field[0], strings.TrimLeft(field[1], "*?")
		default:
			text = field[0]
		}
		sum, err := parseChecksum(text)
		if err != nil || sum.kind == "file" {
			continue
		}
		if name == "" || slices.Contains(names, name) || slices.Contains(names, strings.TrimPrefix(name, "./")) {
			return sum, true
		}
	}
	return checksum{}, false
}

// verify compares a file with its checksum.
func (c checksum) verify(ctx context.Context, file string) error {
	for _, digest := range digests {
		if digest.kind != c.kind {
			continue
		}
		got, err := hashFile(ctx, file, digest.make())
		if err != nil {
			return err
		}
		if got != c.value {
			return fmt.Errorf("%w: it should be %s, and is %s (%s)", ErrChecksum, c.value, got, c.kind)
		}
	}
	return nil
}

// hashFile returns the digest of a file in hex digits.
func hashFile(ctx context.Context, file string, digest hash.Hash) (string, error) {
	f, err := patient.Open(file, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(digest, chunks.NewReader(ctx, f)); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// writeFile writes a reader to a file, up to limit bytes and one more, and returns their number. The error matches
// hosts.ErrTooLarge if the reader has more than limit bytes.
func writeFile(ctx context.Context, name string, mode fs.FileMode, from io.Reader, limit int64) (written int64, err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	written, err = io.Copy(file, io.LimitReader(chunks.NewReader(ctx, from), limit+1))
	if err == nil && written > limit {
		err = hosts.TooLarge(limit)
	}
	return written, err
}
