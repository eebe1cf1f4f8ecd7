package blob

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
)

// Sub returns the objects of a bucket whose keys begin with prefix and a slash, as a bucket whose
// keys lack both. prefix is a key, or "" for all objects. Closing the result closes the bucket.
//
// The result checks keys and options before it calls the bucket, skips objects with invalid keys,
// such as the markers that some programs write for directories, and names itself in errors.
func Sub(b Bucket, prefix string) Bucket {
	if prefix != "" {
		prefix += "/"
	}
	if above, ok := b.(*sub); ok {
		return &sub{above.bucket, above.prefix + prefix}
	}
	return &sub{b, prefix}
}

type sub struct {
	bucket Bucket
	prefix string
}

// Get implements Bucket.
func (s *sub) Get(ctx context.Context, key string, opts GetOptions) (*Object, error) {
	err := CheckKey(key)
	if err == nil && (opts.Offset < 0 || opts.Length < 0) {
		err = ErrRange
	}
	if err != nil {
		return nil, Fail("get", s, key, err)
	}
	object, err := s.bucket.Get(ctx, s.prefix+key, opts)
	if errors.Is(err, ErrRange) && opts.Offset == 0 { // it is empty, so every range is an error
		object, err = s.bucket.Get(ctx, s.prefix+key, GetOptions{IfMatch: opts.IfMatch})
	}
	if err != nil {
		return nil, Fail("get", s, key, err)
	}
	object.Key = key
	return object, nil
}

// Stat implements Bucket.
func (s *sub) Stat(ctx context.Context, key string) (info Info, err error) {
	if err = CheckKey(key); err == nil {
		info, err = s.bucket.Stat(ctx, s.prefix+key)
	}
	info.Key = key
	return info, Fail("stat", s, key, err)
}

// Put implements Bucket.
func (s *sub) Put(ctx context.Context, key string, content *io.SectionReader, opts PutOptions) (info Info, err error) {
	if err = opts.check(key, content); err == nil {
		info, err = s.bucket.Put(ctx, s.prefix+key, content, opts)
	}
	switch {
	case opts.IfAbsent && errors.Is(err, ErrChanged):
		err = ErrExists
	case opts.IfMatch != "" && errors.Is(err, ErrNotFound):
		err = ErrChanged
	}
	info.Key = key
	return info, Fail("put", s, key, err)
}

// List implements Bucket.
func (s *sub) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for info, err := range s.bucket.List(ctx, s.prefix+prefix) {
			info.Key = strings.TrimPrefix(info.Key, s.prefix)
			if (err != nil || CheckKey(info.Key) == nil) && !yield(info, Fail("list", s, prefix, err)) {
				return
			}
		}
	}
}

// Delete implements Bucket.
func (s *sub) Delete(ctx context.Context, key string) error {
	err := CheckKey(key)
	if err == nil {
		err = ignoreNotFound(s.bucket.Delete(ctx, s.prefix+key))
	}
	return Fail("delete", s, key, err)
}

// String implements Bucket.
func (s *sub) String() string {
	if s.prefix == "" {
		return s.bucket.String()
	}
	return strings.TrimSuffix(s.bucket.String(), "/") + "/" + strings.TrimSuffix(s.prefix, "/")
}

// Endpoint returns that of the whole bucket.
func (s *sub) Endpoint() string {
	if elsewhere, ok := s.bucket.(interface{ Endpoint() string }); ok {
		return elsewhere.Endpoint()
	}
	return ""
}

// Close implements Bucket.
func (s *sub) Close() error { return s.bucket.Close() }
