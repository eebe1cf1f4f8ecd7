// Package blob is where packages are kept past one machine: a [Bucket] holds objects, each of
// them bytes under a key.
//
//	bucket := blob.NewDirectory("/srv/mirror")
//	defer bucket.Close()
//	_, err := bucket.Put(ctx, "a/b.json", blob.Bytes(text), blob.PutOptions{ContentType: "application/json"})
//	object, err := bucket.Get(ctx, "a/b.json", blob.GetOptions{})
//	defer object.Body.Close()
//
// [NewDirectory] is a bucket of files. Those of services are opened by their address, with package setup. [Sub] makes a bucket of the
// objects below a prefix. A new kind of bucket has to pass the tests of package blob/blobtest.
//
// # What all buckets have in common
//
// An object is replaced in one step: a reader has all bytes of the old one or all of the new one. What Put,
// Delete and List did is seen by every call that begins afterwards, also those of other processes:
// S3, Google Cloud Storage, and what is compatible with them, are consistent in this sense.
//
// Conditions make it possible for several processes to write one bucket: [PutOptions].IfAbsent lets
// one of several writers win, and IfMatch has a writer notice that the object has changed since it
// was read. Not every service has both; those that haven't answer with [ErrUnsupported], and write
// nothing.
//
// The methods retry what may succeed the second time. They end when the context does, and then
// return an error that matches the context's own.
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

// Bucket is a set of objects. Keys are as [CheckKey] says, and all methods check that. Errors are made
// by [Fail], and match one of the Err values of this package where a caller has reason to
// branch. A Bucket is safe for many goroutines, and for many processes at once.
//
// A new kind of bucket needn't check keys and options, nor call Fail: [Sub], which the function that opens it
// calls, does that. Of a condition that isn't met it may say ErrChanged, and ErrNotFound of what isn't there to be replaced or deleted.
type Bucket interface {
	// Get opens an object, which is ErrNotFound if there is none. The caller has to close its Body.
	// A body that breaks off is an error of its Read, and so is one that isn't what a checksum of
	// the service says.
	Get(ctx context.Context, key string, opts GetOptions) (*Object, error)

	// Stat describes an object without reading it. ErrNotFound if there is none.
	Stat(ctx context.Context, key string) (Info, error)

	// Put writes an object: content, from its beginning to its end, whatever was read of it before.
	// It may be read several times, and at several places at once. Nothing is written if content
	// can't be read, or is shorter than it says. ErrExists and ErrChanged say that a condition of
	// the options isn't met.
	Put(ctx context.Context, key string, content *io.SectionReader, opts PutOptions) (Info, error)

	// List describes the objects whose keys begin with prefix, which may be "" and may end within a
	// name, in no particular order. It ends with the first error. Of what is written or deleted
	// while it runs, it may have the state before or after. The Tags may be "", and so may
	// ContentType and CacheControl.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, key string) error

	// String names the bucket for people, as a URL or a path, without secrets.
	String() string

	// Close closes connections that are idle. No method is called afterwards.
	Close() error
}

// GetOptions say what Get reads. The zero value is all of the object.
type GetOptions struct {
	// Offset is the first byte to read. At or past the end of an object that isn't empty, it is ErrRange.
	Offset int64
	// Length is how many bytes to read, at most those that there are; 0: to the end.
	Length int64
	// IfMatch is the Tag that the object has to have: with another one it is ErrChanged. "": it may have any.
	IfMatch string
}

// PutOptions say how Put writes. The zero value replaces what is there.
type PutOptions struct {
	// ContentType is what the service answers with when others read the object by HTTP; "":
	// application/octet-stream. A service never guesses it.
	ContentType string
	// CacheControl is the header of that name; "": there is none.
	CacheControl string
	// IfAbsent writes only where there is no object: else it is ErrExists.
	IfAbsent bool
	// IfMatch writes only where the object has this Tag: else, and where there is none, it is
	// ErrChanged. "": it may have any. It can't be combined with IfAbsent.
	IfMatch string
	// Private says that the object is a secret. A directory lets no other user read the file; who
	// may read an object of a service is the business of the service.
	Private bool
}

// Info describes an object.
type Info struct {
	Key  string
	Size int64 // of all of it, in bytes
	// Tag changes with the content. Two objects with the same Tag and key have the same content; it means nothing else.
	Tag      string
	Modified time.Time // by the service's clock
	// ContentType and CacheControl are what Put said; "": the bucket doesn't keep it.
	ContentType, CacheControl string
}

// Object is an object that is read.
type Object struct {
	Info
	Body io.ReadCloser // the part that was asked for
}

// Bytes is content for Put.
func Bytes(content []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(content), 0, int64(len(content)))
}

// ReadAll returns the content of an object that has at most limit bytes; a larger one is ErrTooLarge.
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

// check returns an error for what Put can't do whatever the bucket: a key that is none, options that contradict each
// other, content that is shorter than it says.
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

// maxKey leaves room for a prefix: services take 1024 bytes in all.
const maxKey = 900

// CheckKey returns an error, which matches ErrKey, for a key that not all buckets can have. A key
// consists of names with slashes between them. A name isn't empty, "." or "..". Keys are UTF-8
// without backslashes and control characters, and have 900 bytes at most.
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

// checkDirectoryKey refuses what a directory of files can't have, or keeps for itself.
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

// What callers branch on, with errors.Is, beside getproviders.ErrUnauthorized.
var (
	// ErrNotFound: there is no such object.
	ErrNotFound = errors.New("there is no such object")
	// ErrNoBucket: there is no such bucket, so that it isn't known whether the object exists. It isn't a kind of ErrNotFound.
	ErrNoBucket = errors.New("there is no such bucket")
	// ErrExists: there is an object where there should be none.
	ErrExists = errors.New("the object exists already")
	// ErrChanged: the object isn't the one that the caller knows.
	ErrChanged = errors.New("the object has changed")
	// ErrRange: the object has no such part.
	ErrRange = errors.New("the object is shorter than that")
	// ErrTooLarge: the object is larger than the caller wants it.
	ErrTooLarge = errors.New("the object is larger than the limit")
	// ErrKey: the key isn't one that an object may have.
	ErrKey = errors.New("invalid key")
	// ErrUnsupported: the service can't meet a condition of PutOptions. Nothing was written.
	ErrUnsupported = errors.New("the service has no such condition")
	// ErrUnreachable: the service gave no answer.
	ErrUnreachable = errors.New("the service gives no answer")
)

// doing are the calls in words.
var doing = map[string]string{
	"get": "reading", "stat": "looking for", "put": "writing", "list": "listing", "delete": "deleting", "open": "opening",
}

// Fail says of the cause of a failure that it was "get", "stat", "put", "list", "delete" or "open" of a bucket that failed, for an
// object, or for the prefix of a list, for those who implement a Bucket. What is said of a bucket below this one is said of this,
// and nil stays nil. Other requests to the bucket fail, too, if there is no such bucket, or if the service gives no answer, or wants
// other credentials.
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
