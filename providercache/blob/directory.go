package blob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/filelock"
	"github.com/tfdeps/tfdeps/internal/scratch"
)

// directory is the bucket of NewDirectory.
type directory struct {
	root string
	now  func() time.Time // for the age of files that killed processes left
}

// NewDirectory returns a bucket whose objects are files below a directory, which is made when the first object is written. It is
// an ordinary directory: any web server of static files can serve it, and files that other programs put there are objects.
//
// A key can't be another key's directory, unlike in services, and some file systems treat keys that differ only in case as one.
// ContentType and CacheControl aren't kept. Links that lead out of the directory aren't followed. Names that begin with ".tfdeps-" are
// reserved: for temporary files, and for a file lock, which conditions rely on. On a file system without file locks (some NFS mounts),
// concurrent writers may violate a condition. On Windows, an object can't be replaced or deleted while it is read.
func NewDirectory(root string) Bucket { return Sub(&directory{root, time.Now}, "") }

const (
	ownPrefix = scratch.Prefix
	lockName  = ownPrefix + "lock"

	dirMode  fs.FileMode = 0o755
	fileMode fs.FileMode = 0o644 // a web server runs as another user
	// privateMode is for PutOptions.Private.
	privateMode fs.FileMode = 0o600

	// maxHashed bounds the size of files whose Tag is a hash of their content. Documents are smaller, and may be
	// replaced twice within the resolution of the file system's clock; archives are larger, and aren't replaced.
	maxHashed = 1 << 20
)

// lockPoll is how long a writer waits; others hold the lock only for a rename.
var lockPoll = filelock.Poll{First: time.Millisecond, Last: 50 * time.Millisecond, Limit: time.Minute}

// String implements Bucket.
func (d *directory) String() string { return d.root }

// Close implements Bucket.
func (d *directory) Close() error { return nil }

// Get implements Bucket.
func (d *directory) Get(ctx context.Context, key string, opts GetOptions) (*Object, error) {
	file, info, err := d.open(ctx, key)
	if err != nil {
		return nil, err
	}
	switch {
	case opts.IfMatch != "" && opts.IfMatch != info.Tag:
		err = ErrChanged
	case opts.Offset > 0 && opts.Offset >= info.Size:
		err = ErrRange
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	length := min(cmp.Or(opts.Length, info.Size), info.Size-opts.Offset)
	return &Object{Info: info, Body: &fileBody{ctx: ctx, part: io.NewSectionReader(file, opts.Offset, length), file: file}}, nil
}

// fileBody is a part of a file. Reading a file that became shorter is an error.
type fileBody struct {
	ctx  context.Context
	part *io.SectionReader
	file *os.File
	read int64
}

// Read implements io.Reader.
func (b *fileBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.part.Read(p)
	b.read += int64(n)
	if err == io.EOF && b.read < b.part.Size() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (b *fileBody) Close() error { return b.file.Close() }

// Stat implements Bucket.
func (d *directory) Stat(ctx context.Context, key string) (Info, error) {
	file, info, err := d.open(ctx, key)
	if err != nil {
		return Info{}, err
	}
	return info, file.Close()
}

// open opens the file of a key. os.Root doesn't follow links out of the directory.
func (d *directory) open(ctx context.Context, key string) (*os.File, Info, error) {
	if err := cmp.Or(checkDirectoryKey(key), ctx.Err()); err != nil {
		return nil, Info{}, err
	}
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return nil, Info{}, absent(err)
	}
	defer root.Close()
	name := filepath.FromSlash(key)
	stat, err := root.Stat(name) // before opening, because opening a pipe would block
	if err != nil {
		return nil, Info{}, absent(err)
	}
	if !stat.Mode().IsRegular() {
		return nil, Info{}, ErrNotFound
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, Info{}, absent(err)
	}
	info, err := describe(file, key)
	if err != nil {
		file.Close()
	}
	return file, info, err
}

// absent turns errors for missing files into ErrNotFound. A file in place of a parent directory is one of these, too.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
		return ErrNotFound
	}
	return err
}

// describe returns the Info of an open file.
func describe(file *os.File, key string) (Info, error) {
	stat, err := file.Stat()
	if err != nil {
		return Info{}, err
	}
	info := Info{Key: key, Size: stat.Size(), Modified: stat.ModTime()}
	if info.Size > maxHashed {
		info.Tag = fmt.Sprintf("%x-%x", info.Size, info.Modified.UnixNano())
		return info, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, info.Size)); err != nil {
		return Info{}, err
	}
	info.Tag = hex.EncodeToString(sum.Sum(nil)[:16])
	return info, nil
}

// List implements Bucket.
func (d *directory) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := d.list(ctx, prefix, func(info Info) bool { return yield(info, nil) }); err != nil {
			yield(Info{}, err)
		}
	}
}

// list calls found for each object until found returns false.
func (d *directory) list(ctx context.Context, prefix string, found func(Info) bool) error {
	begin := "."
	if at := strings.LastIndexByte(prefix, '/'); at >= 0 {
		if begin = prefix[:at]; checkDirectoryKey(begin) != nil {
			return nil // no object has such a key
		}
	}
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return ignoreNotFound(absent(err))
	}
	defer root.Close()
	tree := root.FS()
	return fs.WalkDir(tree, begin, func(key string, entry fs.DirEntry, err error) error {
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return ignoreNotFound(absent(err)) // files may disappear during the walk
		}
		if !mayHold(key, entry, prefix) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		stat, err := fs.Stat(tree, key) // follows links
		if err != nil || !stat.Mode().IsRegular() {
			return nil
		}
		if !found(Info{Key: key, Size: stat.Size(), Modified: stat.ModTime()}) {
			return fs.SkipAll
		}
		return nil
	})
}

// mayHold reports whether an entry of a directory is an object whose key begins with prefix, or a
// directory that may hold one.
func mayHold(key string, entry fs.DirEntry, prefix string) bool {
	switch {
	case strings.HasPrefix(entry.Name(), ownPrefix):
		return false
	case entry.IsDir():
		return key == "." || strings.HasPrefix(key+"/", prefix) || strings.HasPrefix(prefix, key+"/")
	}
	return strings.HasPrefix(key, prefix)
}
