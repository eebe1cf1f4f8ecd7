// Package buckets opens buckets by their URLs, says what their objects are called elsewhere, and writes those that never change.
package buckets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// ErrURL says that a URL names no bucket, or has parameters that don't exist.
var ErrURL = errors.New("invalid URL of a bucket")

// Invalid says what is wrong with the URL of a bucket. It matches ErrURL, which its text doesn't repeat.
func Invalid(format string, args ...any) error {
	return &hosts.Fault{Kind: ErrURL, Err: fmt.Errorf(format, args...)}
}

// Openers opens buckets by the scheme of their URLs: the key is a scheme, such as "s3". Credentials
// may be looked for, and the bucket itself isn't asked yet.
type Openers map[string]func(ctx context.Context, u *url.URL) (blob.Bucket, error)

// Open opens the bucket that a URL names, such as s3://BUCKET/PREFIX. Errors that the URL is to
// blame for match ErrURL, and don't repeat its query.
func (o Openers) Open(ctx context.Context, address string) (blob.Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, Invalid("it has to be one such as s3://BUCKET/PREFIX")
	}
	open := o[u.Scheme]
	if open == nil {
		return nil, Invalid("%s has the scheme %q, and known are %s", hosts.RedactURL(u), u.Scheme,
			strings.Join(slices.Sorted(maps.Keys(o)), ", "))
	}
	return open(ctx, u)
}

// SourceURL is the URL of what is below a bucket's, as policies compare it: it has the parameter endpoint if the bucket says by a method
// Endpoint that it isn't that of the service itself, because there the same name is another bucket.
func SourceURL(b blob.Bucket, below string) string {
	elsewhere, ok := b.(interface{ Endpoint() string })
	if !ok || elsewhere.Endpoint() == "" {
		return b.String() + below
	}
	endpoint := elsewhere.Endpoint()
	if u, err := url.Parse(endpoint); err == nil {
		endpoint = hosts.RedactURL(u)
	}
	return b.String() + below + "?endpoint=" + strings.NewReplacer("%3A", ":", "%2F", "/").Replace(url.QueryEscape(endpoint))
}

// SplitURL reads SCHEME://BUCKET/PREFIX. The prefix has no slash at its ends. There may be these
// parameters and no others, each once, and no user, port or fragment: a URL is seen in process
// lists and logs, so that it is no place for secrets.
func SplitURL(u *url.URL, parameters ...string) (bucket, prefix string, query url.Values, err error) {
	prefix = strings.Trim(u.Path, "/")
	query, err = url.ParseQuery(u.RawQuery)
	switch {
	case err != nil:
		err = Invalid("its query can't be read")
	case u.Host == "" || u.Port() != "" || u.User != nil || u.Fragment != "" || u.Opaque != "":
		err = Invalid("it has to be %s://BUCKET/PREFIX, without user, port and fragment", u.Scheme)
	case prefix != "":
		if invalid := blob.CheckKey(prefix); invalid != nil {
			err = Invalid("%w", invalid)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if err == nil && (!slices.Contains(parameters, name) || len(query[name]) != 1) {
			err = Invalid("%s", unknown(u.Scheme, parameters, name))
		}
	}
	return u.Host, prefix, query, err
}

// unknown says that the URLs of a scheme have no such parameter.
func unknown(scheme string, parameters []string, name string) string {
	if len(parameters) == 0 {
		return fmt.Sprintf("%s:// takes no parameters, and the URL has %q", scheme, name)
	}
	return fmt.Sprintf("%s:// has the parameters %s, each once, and not %q", scheme, strings.Join(parameters, ", "), name)
}

// Archive returns the archive that is an object of a bucket. That there is none is known only when
// it is opened: the error matches blob.ErrNotFound.
func Archive(bucket blob.Bucket, key string) getproviders.Archive { return objectArchive{bucket, key} }

// objectArchive is an archive in a bucket.
type objectArchive struct {
	bucket blob.Bucket
	key    string
}

// String is the object's URL.
func (a objectArchive) String() string { return a.bucket.String() + "/" + a.key }

// Open implements getproviders.Archive.
func (a objectArchive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	object, err := a.bucket.Get(ctx, a.key, blob.GetOptions{Offset: offset})
	if errors.Is(err, blob.ErrRange) && offset > 0 { // what was kept of an earlier archive is longer than this one
		offset = 0
		object, err = a.bucket.Get(ctx, a.key, blob.GetOptions{})
	}
	if err != nil {
		return getproviders.OpenedArchive{}, err
	}
	return getproviders.OpenedArchive{Body: object.Body, Offset: offset, Size: object.Size, Validator: object.Tag, Modified: object.Modified}, nil
}

// PutOnce writes an object where there is none. One that is there has to be equal: it stays, but where the service has no conditional
// writes the new one replaces it.
func PutOnce(ctx context.Context, b blob.Bucket, key string, content *io.SectionReader, opts blob.PutOptions) error {
	opts.IfAbsent = true
	_, err := b.Put(ctx, key, content, opts)
	if errors.Is(err, blob.ErrUnsupported) {
		opts.IfAbsent = false
		_, err = b.Put(ctx, key, content, opts)
	}
	if errors.Is(err, blob.ErrExists) {
		return nil
	}
	return err
}
