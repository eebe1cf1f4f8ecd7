package getproviders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hash is a checksum of a provider package with its scheme: "h1:..." or
// "zh:...". Hashes are compared as strings. There may be hashes of other
// schemes, from tools that are newer than this one; they match nothing.
type Hash string

const (
	SchemeH1 = "h1" // Go's dirhash over the unpacked files
	SchemeZH = "zh" // hex SHA-256 of the zip archive
)

// ParseHash accepts anything of the form scheme:value. Only the scheme has to
// have a character; what the value looks like is for each scheme to say, and a
// value that is malformed just doesn't match.
func ParseHash(given string) (Hash, error) {
	if strings.Index(given, ":") < 1 || !utf8.ValidString(given) {
		return "", fmt.Errorf("invalid hash %q: it must have a scheme, a colon and a value, in UTF-8", given)
	}
	return Hash(given), nil
}

// Scheme returns what stands before the first colon, or "" if there is none.
func (h Hash) Scheme() string {
	scheme, _, found := strings.Cut(string(h), ":")
	if !found {
		return ""
	}
	return scheme
}

// Supported reports whether the scheme is a known one.
func (h Hash) Supported() bool {
	scheme := h.Scheme()
	return scheme == SchemeH1 || scheme == SchemeZH
}

// ZH returns the hash of an archive with this SHA-256.
func ZH(sum [32]byte) Hash {
	return Hash(SchemeZH + ":" + hex.EncodeToString(sum[:]))
}

// sha256 is the inverse of ZH.
func (h Hash) sha256() (sum [32]byte, ok bool) {
	text, isZH := strings.CutPrefix(string(h), SchemeZH+":")
	decoded, err := hex.DecodeString(text)
	if !isZH || err != nil || len(decoded) != len(sum) {
		return sum, false
	}
	return [32]byte(decoded), true
}

// isH1 reports whether a hash is what H1 makes: 32 bytes in base64, in the one
// way to write them.
func isH1(h Hash) bool {
	text, ok := strings.CutPrefix(string(h), SchemeH1+":")
	sum, err := base64.StdEncoding.DecodeString(text)
	return ok && err == nil && len(sum) == 32 && base64.StdEncoding.EncodeToString(sum) == text
}

// SortHashes returns the hashes sorted bytewise, without duplicates: the order
// of the lock file, where h1 comes before zh. The argument isn't changed.
func SortHashes(hashes []Hash) []Hash {
	sorted := slices.Clone(hashes)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// FileDigest is one file of a package: its slash-separated path inside and
// the SHA-256 of its content.
type FileDigest struct {
	Name   string
	SHA256 [32]byte
}

// H1 combines the digests of a package's files to its h1 hash, which is Go's
// directory hash: the SHA-256, in base64, of a list in the form of sha256sum's
// output, sorted by name. Modes, times and directories don't count.
//
// The order of files doesn't matter; a name with a newline is an error, since
// it could pass for another line of the list.
func H1(files []FileDigest) (Hash, error) {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b FileDigest) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), slices.Compare(a.SHA256[:], b.SHA256[:]))
	})
	list := sha256.New()
	for _, file := range sorted {
		if strings.Contains(file.Name, "\n") {
			return "", fmt.Errorf("can't hash a package with a newline in the file name %q", file.Name)
		}
		fmt.Fprintf(list, "%x  %s\n", file.SHA256, file.Name)
	}
	return Hash(SchemeH1 + ":" + base64.StdEncoding.EncodeToString(list.Sum(nil))), nil
}

// HashDir reads every file of an unpacked package and returns its h1. A
// symlink in place of dir itself is followed, and so is one in place of a
// file; a symlink to a directory inside the package is an error, as is
// anything else that isn't a file. When ctx ends, its cause is returned.
func HashDir(ctx context.Context, dir string) (Hash, error) { return HashDirProgress(ctx, dir, nil) }

// HashDirProgress is HashDir that calls read with the number of bytes after each
// read from a file, in the goroutine of the caller; nil: it isn't called.
func HashDirProgress(ctx context.Context, dir string, read func(bytes int64)) (Hash, error) {
	h, err := hashDir(ctx, dir, read)
	if err != nil {
		return "", fmt.Errorf("hashing the package in %s: %w", dir, err)
	}
	return h, nil
}

func hashDir(ctx context.Context, dir string, read func(bytes int64)) (Hash, error) {
	// A package directory is often a link into a cache, which the walk
	// wouldn't enter.
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	var files []FileDigest
	buffer := make([]byte, 256<<10)
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		sum, err := hashFile(ctx, path, buffer, read)
		files = append(files, FileDigest{Name: filepath.ToSlash(name), SHA256: sum})
		return err
	})
	if err != nil {
		return "", err
	}
	return H1(files)
}

// DigestFile reads the file at path, which a package has under the given name. A
// symlink is followed, and what isn't a file is an error. When ctx ends, its
// cause is returned.
func DigestFile(ctx context.Context, path, name string) (FileDigest, error) {
	sum, err := hashFile(ctx, path, nil, nil)
	return FileDigest{Name: name, SHA256: sum}, err
}

func hashFile(ctx context.Context, path string, buffer []byte, read func(bytes int64)) (sum [32]byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return sum, err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait for ever
		return sum, fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	digest := sha256.New()
	if _, err := io.CopyBuffer(digest, contextReader{ctx, file, read}, buffer); err != nil {
		return sum, err
	}
	digest.Sum(sum[:0])
	return sum, nil
}

// contextReader stops when its context ends: an executable may be hundreds of
// megabytes, and a user who interrupts doesn't want to wait for it.
type contextReader struct {
	ctx  context.Context
	r    io.Reader
	read func(bytes int64) // is told of what was read; nil: it isn't
}

func (c contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	n, err := c.r.Read(p)
	if c.read != nil {
		c.read(int64(n))
	}
	return n, err
}
