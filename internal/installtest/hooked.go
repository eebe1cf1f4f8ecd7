package installtest

import (
	"context"
	"io"
	"iter"
	"sync"
	"testing/iotest"

	"github.com/tfdeps/tfdeps/providercache/blob"
)

// Call is a call of a bucket's method.
type Call struct {
	Op, Key string // get, stat, put, list or delete; for a list, Key is its prefix
	Offset  int64  // of get
	Put     blob.PutOptions
}

// Hooked is a bucket whose calls a test observes and disturbs. Its functions may be nil.
type Hooked struct {
	blob.Bucket
	Before func(context.Context, Call) error // if it returns an error, the call fails with it and does nothing
	After  func(Call, *blob.Object)          // called after a successful call, with the object of get
	Lock   sync.Locker                       // held during each call and its functions; nil means calls run concurrently
}

func hooked[T any](ctx context.Context, h *Hooked, c Call, call func() (T, error)) (got T, err error) {
	if h.Lock != nil {
		h.Lock.Lock()
		defer h.Lock.Unlock()
	}
	if h.Before != nil {
		if err = h.Before(ctx, c); err != nil {
			return got, blob.Fail(c.Op, h, c.Key, err)
		}
	}
	if got, err = call(); err == nil && h.After != nil {
		object, _ := any(got).(*blob.Object)
		h.After(c, object)
	}
	return got, err
}

func (h *Hooked) Get(ctx context.Context, key string, opts blob.GetOptions) (*blob.Object, error) {
	return hooked(ctx, h, Call{Op: "get", Key: key, Offset: opts.Offset}, func() (*blob.Object, error) { return h.Bucket.Get(ctx, key, opts) })
}

func (h *Hooked) Stat(ctx context.Context, key string) (blob.Info, error) {
	return hooked(ctx, h, Call{Op: "stat", Key: key}, func() (blob.Info, error) { return h.Bucket.Stat(ctx, key) })
}

func (h *Hooked) Put(ctx context.Context, key string, content *io.SectionReader, opts blob.PutOptions) (blob.Info, error) {
	return hooked(ctx, h, Call{Op: "put", Key: key, Put: opts}, func() (blob.Info, error) { return h.Bucket.Put(ctx, key, content, opts) })
}

func (h *Hooked) Delete(ctx context.Context, key string) error {
	_, err := hooked(ctx, h, Call{Op: "delete", Key: key}, func() (any, error) { return nil, h.Bucket.Delete(ctx, key) })
	return err
}

func (h *Hooked) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	all, err := hooked(ctx, h, Call{Op: "list", Key: prefix}, func() (iter.Seq2[blob.Info, error], error) { return h.Bucket.List(ctx, prefix), nil })
	if err != nil {
		return func(yield func(blob.Info, error) bool) { yield(blob.Info{}, err) }
	}
	return all
}

// Unconditional is a Before for a service without conditional writes.
func Unconditional(_ context.Context, c Call) error {
	if c.Put.IfAbsent || c.Put.IfMatch != "" {
		return blob.ErrUnsupported
	}
	return nil
}

// Cut ends the content of an object after a number of bytes, with an error.
func Cut(o *blob.Object, after int64, err error) {
	o.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(o.Body, after), iotest.ErrReader(err)), o.Body}
}
