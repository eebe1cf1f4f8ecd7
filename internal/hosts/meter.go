package hosts

import (
	"bytes"
	"context"
	"io"
)

// meterKey is the key of a context's meter, a func(context.Context, int64) error.
type meterKey struct{}

// WithMeter returns a context with which all documents are counted, by the meter that ctx may have, too: take is told how many bytes of memory reading
// the next part of a document takes, and what is made of it ([DecodedBytes]). It may wait; its error is that of the
// request. It is called from many goroutines. It is for programs that answer strangers.
func WithMeter(ctx context.Context, take func(ctx context.Context, bytes int64) error) context.Context {
	return context.WithValue(ctx, meterKey{}, func(now context.Context, bytes int64) error {
		if err := take(now, bytes); err != nil {
			return err
		}
		return count(now, ctx, bytes)
	})
}

// count counts by the meter of a context.
func count(now, of context.Context, bytes int64) error {
	if take, ok := of.Value(meterKey{}).(func(context.Context, int64) error); ok {
		return take(now, bytes)
	}
	return nil
}

// Count tells the meter of a context of memory that something else than a document of this package takes. The error is the meter's.
func Count(ctx context.Context, bytes int64) error { return count(ctx, ctx, bytes) }

// DecodedBytes is about how much memory a document in JSON takes when it is decoded, with what is made of it and what the collector hasn't
// collected yet. What has many small parts takes most: "{}," becomes a struct.
func DecodedBytes(document []byte) int64 {
	return 10*int64(len(document)) + 128*int64(bytes.Count(document, []byte(",")))
}

// metered counts a body while it is read.
type metered struct {
	io.Reader
	ctx context.Context
}

// Read implements io.Reader.
func (m metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if full := count(m.ctx, m.ctx, 2*int64(n)); full != nil { // a buffer that grows is there twice
		return 0, full
	}
	return n, err
}
