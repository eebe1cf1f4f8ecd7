package blob

import (
	"context"
	"io"
	"iter"
	"strings"
)

// Sub returns the objects of a bucket whose keys begin with prefix and a slash, as a bucket whose
// keys don't have that. Prefix is a key; "" returns the bucket itself. To close it is to close the bucket.
func Sub(b Bucket, prefix string) Bucket {
	if prefix == "" {
		return b
	}
	return &sub{bucket: b, prefix: prefix + "/"}
}

type sub struct {
	bucket Bucket
	prefix string
}

// Get implements Bucket.
func (s *sub) Get(ctx context.Context, key string, opts GetOptions) (*Object, error) {
	if err := CheckKey(key); err != nil {
		return nil, Fail("get", s, key, err)
	}
	object, err := s.bucket.Get(ctx, s.prefix+key, opts)
	if err != nil {
		return nil, Fail("get", s, key, err)
	}
	object.Key = key
	return object, nil
}

// Stat implements Bucket.
func (s *sub) Stat(ctx context.Context, key string) (Info, error) {
	if err := CheckKey(key); err != nil {
		return Info{}, Fail("stat", s, key, err)
	}
	info, err := s.bucket.Stat(ctx, s.prefix+key)
	info.Key = key
	return info, Fail("stat", s, key, err)
}

// Put implements Bucket.
func (s *sub) Put(ctx context.Context, key string, content *io.SectionReader, opts PutOptions) (Info, error) {
	if err := CheckKey(key); err != nil {
		return Info{}, Fail("put", s, key, err)
	}
	info, err := s.bucket.Put(ctx, s.prefix+key, content, opts)
	info.Key = key
	return info, Fail("put", s, key, err)
}

// List implements Bucket.
func (s *sub) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for info, err := range s.bucket.List(ctx, s.prefix+prefix) {
			info.Key = strings.TrimPrefix(info.Key, s.prefix)
			if !yield(info, Fail("list", s, prefix, err)) {
				return
			}
		}
	}
}

// Delete implements Bucket.
func (s *sub) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return Fail("delete", s, key, err)
	}
	return Fail("delete", s, key, s.bucket.Delete(ctx, s.prefix+key))
}

// String implements Bucket.
func (s *sub) String() string {
	return strings.TrimSuffix(s.bucket.String(), "/") + "/" + strings.TrimSuffix(s.prefix, "/")
}

// Endpoint is that of the whole bucket.
func (s *sub) Endpoint() string {
	if elsewhere, ok := s.bucket.(interface{ Endpoint() string }); ok {
		return elsewhere.Endpoint()
	}
	return ""
}

// Close implements Bucket.
func (s *sub) Close() error { return s.bucket.Close() }
