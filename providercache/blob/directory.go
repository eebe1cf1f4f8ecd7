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
	now  func() time.Time // by which old files that killed processes left are told
}

// NewDirectory returns the bucket whose objects are files below a directory, which is made when the first object is written. Nothing of
// it is special: a web server of static files can serve it, and what other programs put there is read.
//
// A key can't be another key's directory, unlike in services, and of two keys that differ in case
// alone a file system may see one. ContentType and CacheControl aren't kept. Links that lead out of
// the directory aren't followed. Names that begin with ".tfdeps-" are its own: files that are being
// made, and a file lock, which is what conditions rest on. On a file system without file locks
// (some mounts of NFS), they hold between the goroutines of one process only by luck. On Windows,
// an object can't be replaced or deleted while it is read.
func NewDirectory(root string) Bucket { return Sub(&directory{root, time.Now}, "") }

const (
	ownPrefix = scratch.Prefix
	lockName  = ownPrefix + "lock"

	dirMode  fs.FileMode = 0o755
	fileMode fs.FileMode = 0o644 // a web server runs as another user
	// privateMode is for PutOptions.Private.
	privateMode fs.FileMode = 0o600

	// maxHashed is how large a file may be whose Tag is a hash of its content. Documents are
	// smaller, and are replaced, sometimes twice within the resolution of a file system's clock;
	// archives are larger, and aren't.
	maxHashed = 1 << 20
)

// lockPoll says how long a writer waits: others hold the lock only for a rename.
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

// fileBody is a part of a file. A file that became shorter is an error.
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

// open opens the file of a key. A root keeps links from leading out of the directory.
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
	stat, err := root.Stat(name) // before it is opened, as a pipe would have to be waited for
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

// absent translates that there is no file. One that lies where a directory should be is no object either.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isNotDirectory(err) {
		return ErrNotFound
	}
	return err
}

// describe says what an open file is.
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

// list calls found for each object, until it returns false.
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
			return ignoreNotFound(absent(err)) // it may go while the list is made
		}
		if !mayHold(key, entry, prefix) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		stat, err := fs.Stat(tree, key) // what a link leads to counts
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
