// Package buckets opens buckets by their URLs, gives policies the URLs of their objects, and writes objects that never change.
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

// ErrURL means that a URL names no bucket, or has unknown parameters.
var ErrURL = errors.New("invalid URL of a bucket")

// Invalid returns an error about the URL of a bucket. It matches ErrURL, and its text doesn't repeat
// ErrURL's.
func Invalid(format string, args ...any) error {
	return &hosts.Fault{Kind: ErrURL, Err: fmt.Errorf(format, args...)}
}

// Openers opens buckets by the scheme of their URLs; a key is a scheme, such as "s3". Opening may
// look for credentials, but makes no request to the bucket.
type Openers map[string]func(ctx context.Context, u *url.URL) (blob.Bucket, error)

// Open opens the bucket of a URL such as s3://BUCKET/PREFIX. Errors about the URL match ErrURL, and
// don't contain its query.
func (o Openers) Open(ctx context.Context, address string) (blob.Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return nil, Invalid("it has to be one such as s3://BUCKET/PREFIX")
	}
	open := o[u.Scheme]
	if open == nil {
		return nil, Invalid("%s has the scheme %q, and the known ones are %s", hosts.RedactURL(u), u.Scheme,
			strings.Join(slices.Sorted(maps.Keys(o)), ", "))
	}
	return open(ctx, u)
}

// SourceURL returns the URL of below, a path in the bucket b, as policies compare it. If b has a method Endpoint and it returns an
// endpoint other than the service's own, the URL has the parameter endpoint, because the same name is another bucket there.
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

// isBucketName reports whether a name keeps the rules that all services and all times have in common: services have more.
func isBucketName(name string) bool {
	const letters, signs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "._-"
	if len(name) < 3 || strings.Trim(name, letters+signs) != "" {
		return false
	}
	return strings.Trim(name, signs) == name
}

// SplitURL splits SCHEME://BUCKET/PREFIX. The prefix has no slash at its ends. Only the given
// parameters are allowed, each once, and no user, port or fragment: process lists and logs show
// URLs, so they are no place for secrets.
func SplitURL(u *url.URL, parameters ...string) (bucket, prefix string, query url.Values, err error) {
	prefix = strings.Trim(u.Path, "/")
	query, err = url.ParseQuery(u.RawQuery)
	switch {
	case err != nil:
		err = Invalid("its query can't be read")
	case u.Host == "" || u.Port() != "" || u.User != nil || u.Fragment != "" || u.Opaque != "":
		err = Invalid("it has to be %s://BUCKET/PREFIX, without user, port and fragment", u.Scheme)
	case !isBucketName(u.Host):
		err = Invalid("%q is no name of a bucket: that has 3 or more letters, digits, dots, hyphens and underscores, and begins and ends with a letter or digit", u.Host)
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

// unknown returns a text that says which parameters the URLs of a scheme can have.
func unknown(scheme string, parameters []string, name string) string {
	if len(parameters) == 0 {
		return fmt.Sprintf("%s:// takes no parameters, and the URL has %q", scheme, name)
	}
	return fmt.Sprintf("%s:// takes the parameters %s, each once, and the URL has %q", scheme, strings.Join(parameters, ", "), name)
}

// Archive returns an object of a bucket as an archive. If the object doesn't exist, only opening it
// fails; the error matches blob.ErrNotFound.
func Archive(bucket blob.Bucket, key string) getproviders.Archive { return objectArchive{bucket, key} }

// objectArchive is an archive in a bucket.
type objectArchive struct {
	bucket blob.Bucket
	key    string
}

// String returns the object's URL.
func (a objectArchive) String() string { return a.bucket.String() + "/" + a.key }

// Open implements getproviders.Archive.
func (a objectArchive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	object, err := a.bucket.Get(ctx, a.key, blob.GetOptions{Offset: offset})
	if errors.Is(err, blob.ErrRange) && offset > 0 { // the part that was kept is of an earlier, longer archive
		offset = 0
		object, err = a.bucket.Get(ctx, a.key, blob.GetOptions{})
	}
	if err != nil {
		return getproviders.OpenedArchive{}, err
	}
	return getproviders.OpenedArchive{Body: object.Body, Offset: offset, Size: object.Size, Validator: object.Tag, Modified: object.Modified}, nil
}

// PutOnce writes an object that never changes. If the object exists already, its content must be the same; PutOnce leaves it as it
// is, or replaces it if the service has no conditional writes.
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
