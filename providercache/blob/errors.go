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
