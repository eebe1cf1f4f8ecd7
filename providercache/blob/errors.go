package blob

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

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

// bucketError says which call failed.
type bucketError struct {
	Op     string // "get", "stat", "put", "list", "delete" or "open"
	Bucket string // as Bucket.String names it
	Key    string // or the prefix of a list; "" if it isn't about one
	Err    error
}

// Error implements error.
func (e *bucketError) Error() string {
	name := e.Bucket
	if e.Key != "" {
		name += "/" + e.Key
	}
	return fmt.Sprintf("%s %s: %v", cmp.Or(doing[e.Op], e.Op), name, e.Err)
}

// doing are the calls in words.
var doing = map[string]string{
	"get": "reading", "stat": "looking for", "put": "writing", "list": "listing", "delete": "deleting", "open": "opening",
}

// Code is "unauthorized" or "bucket".
func (e *bucketError) Code() string {
	if errors.Is(e.Err, hosts.ErrUnauthorized) {
		return "unauthorized"
	}
	return "bucket"
}

// Hint says what to do about a directory that can't be used.
func (e *bucketError) Hint() string {
	if _, ok := errors.AsType[*fs.PathError](e.Err); !ok {
		return ""
	}
	return "name a directory that this user may write to, on a disk that is there"
}

// Shared names what other requests to the bucket fail for, too: that there is no such bucket, that the service gives no
// answer, or wants other credentials. "": the error is about one object.
func (e *bucketError) Shared() string {
	for _, kind := range []error{ErrNoBucket, ErrUnreachable, hosts.ErrUnauthorized} {
		if errors.Is(e.Err, kind) {
			return e.Bucket + ": " + kind.Error()
		}
	}
	return ""
}

// Unwrap returns the cause.
func (e *bucketError) Unwrap() error { return e.Err }

// Fail makes an *Error of the cause of a failure, for those who implement a Bucket. That of a bucket below this one
// becomes one of this, and nil stays nil.
func Fail(op string, b fmt.Stringer, key string, err error) error {
	if err == nil {
		return nil
	}
	if below, ok := err.(*bucketError); ok {
		err = below.Err
	}
	return &bucketError{Op: op, Bucket: b.String(), Key: key, Err: err}
}
