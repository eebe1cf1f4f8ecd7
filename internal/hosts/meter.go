package hosts

import (
	"bytes"
	"context"
	"io"
)

// meterKey is the key of a context's meter, a func(context.Context, int64) error.
type meterKey struct{}

// WithMeter returns a context that counts the memory of all documents, with take and with the meter that ctx may have. take gets the bytes of memory
// for the next part of a document, and for the decoded document ([DecodedBytes]). It may wait; its error becomes the request's. Many goroutines call
// it. It is for servers with untrusted clients.
func WithMeter(ctx context.Context, take func(ctx context.Context, bytes int64) error) context.Context {
	return context.WithValue(ctx, meterKey{}, func(now context.Context, bytes int64) error {
		if err := take(now, bytes); err != nil {
			return err
		}
		return count(now, ctx, bytes)
	})
}

// count calls the meter of a context.
func count(now, of context.Context, bytes int64) error {
	if take, ok := of.Value(meterKey{}).(func(context.Context, int64) error); ok {
		return take(now, bytes)
	}
	return nil
}

// Count reports other memory than a document's to the meter of a context. The error is the meter's.
func Count(ctx context.Context, bytes int64) error { return count(ctx, ctx, bytes) }

// DecodedBytes estimates the memory of a decoded JSON document, including garbage that isn't collected yet. Documents with many small
// parts need most: "{}," becomes a struct.
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
	if full := count(m.ctx, m.ctx, 2*int64(n)); full != nil { // a growing buffer exists twice
		return 0, full
	}
	return n, err
}
