// Package blob stores packages where many machines can reach them: a [Bucket] holds objects, each of them bytes under a key.
//
//	bucket := blob.NewDirectory("/srv/mirror")
//	defer bucket.Close()
//	_, err := bucket.Put(ctx, "a/b.json", blob.Bytes(text), blob.PutOptions{ContentType: "application/json"})
//	object, err := bucket.Get(ctx, "a/b.json", blob.GetOptions{})
//	defer object.Body.Close()
//
// [NewDirectory] returns a bucket of files. Package setup opens buckets of services by their address. [Sub] returns the
// objects below a prefix as a bucket. A new kind of bucket has to pass the tests of package blob/blobtest.
//
// # What all buckets have in common
//
// An object is replaced in one step: a reader gets all bytes of the old one or all of the new one. Every call
// that begins after a Put, Delete or List has returned sees the same or a later state, also in other
// processes: S3, Google Cloud Storage, and services compatible with them, are consistent in this sense.
//
// Conditions let several processes write one bucket: with [PutOptions].IfAbsent one of several writers wins, and with IfMatch a writer
// notices that the object has changed since it was read. A service that lacks a condition returns [ErrUnsupported], and writes nothing.
//
// The methods retry temporary failures. When the context ends, they return an error that matches the context's own.
package blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Bucket is a set of objects. Keys follow the rules of [CheckKey], which all methods check. Errors are made by [Fail], and match one of
// the Err values of this package if callers may have to branch. A Bucket is safe for many goroutines and many processes at once.
//
// A new kind of bucket needn't check keys and options, nor call Fail: [Sub] does that, and the function that opens the bucket calls
// Sub. If a condition isn't met, the new kind may return ErrChanged, and if the object to replace or delete doesn't exist, ErrNotFound.
type Bucket interface {
	// Get opens an object, or returns ErrNotFound if it doesn't exist. The caller has to close the Body. Its
	// Read returns an error if the body is truncated, or if it doesn't match the service's checksum.
	Get(ctx context.Context, key string, opts GetOptions) (*Object, error)

	// Stat describes an object without reading it. It returns ErrNotFound if the object doesn't exist.
	Stat(ctx context.Context, key string) (Info, error)

	// Put writes all of content, wherever its read position is. It may read content several times and
	// at several offsets at once. It writes nothing if content can't be read, or is shorter than its
	// size. It returns ErrExists or ErrChanged if a condition of the options isn't met.
	Put(ctx context.Context, key string, content *io.SectionReader, opts PutOptions) (Info, error)

	// List describes the objects whose keys begin with prefix, in no particular order. The prefix may be "", and
	// may end within a name. List ends with the first error. For objects that are written or deleted meanwhile,
	// it may return the old or the new state. Tag, ContentType and CacheControl may be "".
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Delete removes an object. Deleting an object that doesn't exist is no error.
	Delete(ctx context.Context, key string) error

	// String names the bucket for people, as a URL or a path, without secrets.
	String() string

	// Close closes idle connections. No method may be called afterwards.
	Close() error
}

// GetOptions say what Get reads. The zero value reads the whole object.
type GetOptions struct {
	// Offset is the first byte to read. If it is at or past the end of a non-empty object, Get returns ErrRange.
	Offset int64
	// Length is the maximal number of bytes to read; 0: to the end.
	Length int64
	// IfMatch is the Tag that the object has to have, else Get returns ErrChanged; "": any.
	IfMatch string
}

// PutOptions say how Put writes. The zero value replaces any existing object.
type PutOptions struct {
	// ContentType is the header with which the service serves the object; "": application/octet-stream. A service never guesses it.
	ContentType string
	// CacheControl is the header of that name; "": no header.
	CacheControl string
	// IfAbsent writes only if the object doesn't exist, else Put returns ErrExists.
	IfAbsent bool
	// IfMatch writes only if the object exists and has this Tag, else Put
	// returns ErrChanged; "": any. It can't be combined with IfAbsent.
	IfMatch string
	// Private says that the object is a secret. In a directory, no other user can read
	// the file; a service decides by its own settings who may read an object.
	Private bool
}

// Info describes an object.
type Info struct {
	Key  string
	Size int64 // of the whole object, in bytes
	// Tag changes with the content: objects with the same key and Tag have the same content. It has no other meaning.
	Tag      string
	Modified time.Time // by the service's clock
	// ContentType and CacheControl are those of Put; "" if the bucket doesn't keep them.
	ContentType, CacheControl string
}

// Object is an open object.
type Object struct {
	Info
	Body io.ReadCloser // the part that was asked for
}

// Bytes returns content for Put.
func Bytes(content []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))
}

// ReadAll returns the content of an object, or ErrTooLarge if it has more than limit bytes.
func ReadAll(ctx context.Context, b Bucket, key string, limit int64) ([]byte, Info, error) {
	object, err := b.Get(ctx, key, GetOptions{})
	if err != nil {
		return nil, Info{}, err
	}
	defer object.Body.Close()
	content, err := io.ReadAll(io.LimitReader(object.Body, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%w of %d bytes", ErrTooLarge, limit)
	}
	if err != nil {
		return nil, Info{}, Fail("get", b, key, err)
	}
	return content, object.Info, nil
}

// check returns an error for what no bucket can write: an invalid key, contradictory options, content that is shorter than its size.
func (opts PutOptions) check(key string, content *io.SectionReader) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if opts.IfAbsent && opts.IfMatch != "" {
		return errors.New("an object can't be absent and have a tag")
	}
	if size := content.Size(); size > 0 {
		if n, err := content.ReadAt(make([]byte, 1), size-1); n == 0 {
			return fmt.Errorf("the content has less than its %d bytes: %w", size, cmp.Or(err, io.ErrUnexpectedEOF))
		}
	}
	return nil
}

// maxKey leaves room for a prefix: services allow 1024 bytes in all.
const maxKey = 900

// CheckKey returns an error, which matches ErrKey, for a key that some bucket can't have. A key consists of names with slashes
// between them. No name is empty, "." or "..". Keys are UTF-8 without backslashes and control characters, of at most 900 bytes.
func CheckKey(key string) error {
	if !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return fmt.Errorf("%w: %q has a character that no key may have", ErrKey, key)
	}
	if len(key) > maxKey {
		return fmt.Errorf("%w: %.40q... has more than %d bytes", ErrKey, key, maxKey)
	}
	if !fs.ValidPath(key) || key == "." {
		return fmt.Errorf("%w: %q has a name in it that is empty, \".\" or \"..\"", ErrKey, key)
	}
	return nil
}

// checkDirectoryKey also rejects keys that can't be file names here, or that a directory reserves for itself.
func checkDirectoryKey(key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	for name := range strings.SplitSeq(key, "/") {
		if strings.HasPrefix(name, ownPrefix) {
			return fmt.Errorf("%w: %q has a name in it that begins with %s", ErrKey, key, ownPrefix)
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return fmt.Errorf("%w: %q can't be the name of a file here", ErrKey, key)
	}
	return nil
}

// Errors that callers branch on with errors.Is, like getproviders.ErrUnauthorized.
var (
	// ErrNotFound: the object doesn't exist.
	ErrNotFound = errors.New("there is no such object")
	// ErrNoBucket: the bucket doesn't exist, so it is unknown whether the object does. It doesn't match ErrNotFound.
	ErrNoBucket = errors.New("there is no such bucket")
	// ErrExists: the object exists, and PutOptions.IfAbsent is set.
	ErrExists = errors.New("the object exists already")
	// ErrChanged: the object doesn't have the Tag of IfMatch.
	ErrChanged = errors.New("the object has changed")
	// ErrRange: the object has no such part.
	ErrRange = errors.New("the object is shorter than that")
	// ErrTooLarge: the object is larger than the caller's limit.
	ErrTooLarge = errors.New("the object is larger than the limit")
	// ErrKey: the key is invalid.
	ErrKey = errors.New("invalid key")
	// ErrUnsupported: the service can't meet a condition of PutOptions. Nothing was written.
	ErrUnsupported = errors.New("the service doesn't support the condition")
	// ErrUnreachable: the service gave no answer.
	ErrUnreachable = errors.New("the service doesn't answer")
)

// doing are the operations in words.
var doing = map[string]string{
	"get": "reading", "stat": "looking for", "put": "writing", "list": "listing", "delete": "deleting", "open": "opening",
}

// Fail wraps an error of a Bucket's method, for those who implement one. op is "get", "stat", "put", "list",
// "delete" or "open"; key is the object's key, or the prefix of a list. An error that Fail made for the bucket
// below this one is renamed to this one, and nil stays nil. The error says that other requests to the bucket
// fail, too, if the bucket doesn't exist, or the service doesn't answer or rejects the credentials.
func Fail(op string, b fmt.Stringer, key string, err error) error {
	if err == nil {
		return nil
	}
	if below, ok := err.(*hosts.Fault); ok && below.Op != "" {
		err = errors.Unwrap(below.Err)
	}
	name := b.String()
	if key != "" {
		name += "/" + key
	}
	failed := &hosts.Fault{ID: "bucket", Op: op, Err: fmt.Errorf("%s %s: %w", cmp.Or(doing[op], op), name, err)}
	if errors.Is(err, hosts.ErrUnauthorized) {
		failed.ID = "unauthorized"
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Advice = "name a directory that this user may write to, on a disk that is there"
	}
	for _, kind := range []error{ErrNoBucket, ErrUnreachable, hosts.ErrUnauthorized} {
		if failed.Common == "" && errors.Is(err, kind) {
			failed.Common = b.String() + ": " + kind.Error()
		}
	}
	return failed
}
