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
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// checksum is what an archive has to have: "sha256" and hex digits, or "file" and
// where there is a list of checksums. The zero value is none.
type checksum struct{ kind, value string }

// digests are the kinds of checksums, with the number of their bytes.
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

// parseChecksum reads the parameter of an address. Without a kind the length
// tells it.
func parseChecksum(text string) (checksum, error) {
	if text == "" {
		return checksum{}, nil
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
		return checksum{}, errors.New("the checksum is not in hex digits")
	}
	for _, digest := range digests {
		if len(raw) == digest.size && (kind == "" || strings.EqualFold(kind, digest.kind)) {
			return checksum{digest.kind, strings.ToLower(value)}, nil
		}
	}
	return checksum{}, errors.New("the checksum must be one of md5, sha1, sha256 and sha512, and as long as these are")
}

// parseChecksums finds the checksum of a file in a list, in the form of sha256sum
// or of the BSDs. A line that has no name is for whatever file is asked about.
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
			return fmt.Errorf("%w: %s is wanted, and it is %s (%s)", ErrChecksum, c.value, got, c.kind)
		}
	}
	return nil
}

// hashFile returns a digest of a file, in hex digits.
func hashFile(ctx context.Context, file string, digest hash.Hash) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(digest, chunks.NewReader(ctx, f)); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// writeFile makes a file of what a reader has, or of the limit's bytes and one more of it, and returns their number. The
// error is a hosts.TooLargeError if there are more than the limit.
func writeFile(ctx context.Context, name string, mode fs.FileMode, from io.Reader, limit int64) (written int64, err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	written, err = io.Copy(file, io.LimitReader(chunks.NewReader(ctx, from), limit+1))
	if err == nil && written > limit {
		err = &hosts.TooLargeError{Limit: limit}
	}
	return written, err
}

// maxListBytes is far more than any list of checksums has.
const maxListBytes = 1 << 20

// resolve returns the checksum itself, where the address says only in which
// list it is.
func (f *Fetcher) resolve(ctx context.Context, from packageSource) (checksum, error) {
	if from.checksum.kind != "file" {
		return from.checksum, nil
	}
	listURL, err := url.Parse(from.checksum.value)
	if err != nil {
		return checksum{}, fmt.Errorf("%w: the list of checksums: %w", ErrAddress, withoutURL(err))
	}
	text, err := f.readList(ctx, from, listURL)
	if err != nil {
		return checksum{}, fmt.Errorf("the list of checksums: %w", err)
	}
	archive, err := archivePath(from)
	if err != nil {
		return checksum{}, err
	}
	names := []string{path.Base(archive), archive}
	if relative, err := filepath.Rel(path.Dir(listURL.Path), archive); err == nil {
		names = append(names, filepath.ToSlash(relative))
	}
	sum, found := parseChecksums(string(text), names)
	if !found {
		return checksum{}, fmt.Errorf("%w: the list of checksums, %s, has none for %q", ErrChecksum, modules.Redact(from.checksum.value), names[0])
	}
	return sum, nil
}

// archivePath is the path of an archive on its server.
func archivePath(from packageSource) (string, error) {
	if from.kind == "file" {
		return filepath.ToSlash(from.url), nil
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return "", withoutURL(err)
	}
	return u.Path, nil
}

// readList gets a list of checksums. Only an archive of this machine may have its
// list there.
func (f *Fetcher) readList(ctx context.Context, from packageSource, at *url.URL) ([]byte, error) {
	switch {
	case at.Scheme == "http", at.Scheme == "https":
		return f.readRemoteList(ctx, at)
	case from.kind == "file" && (at.Scheme == "file" || at.Scheme == ""):
		return wholefile.Read(filePath(at), maxListBytes)
	default:
		return nil, fmt.Errorf("%w: it has to be at an http or https URL", ErrAddress)
	}
}

func (f *Fetcher) readRemoteList(ctx context.Context, at *url.URL) ([]byte, error) {
	if f.Offline {
		return nil, ErrOffline
	}
	resp, err := f.get(ctx, at, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		resp.Body.Close()
		return nil, statusOf(resp)
	}
	return hosts.ReadAll(resp, maxListBytes)
}
