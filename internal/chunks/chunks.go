// Package chunks copies bytes in large pieces, until the context is done.
//
//	n, err := chunks.Copy(ctx, dst, src, make([]byte, chunks.Size))
package chunks

import (
	"context"
	"crypto/sha256"
	"io"
)

// Size is the size of a copy buffer, in bytes. It is large enough that the cost of each call
// doesn't matter, and small enough to stay in a core's own cache between reading, hashing and
// writing. Each download has one buffer, and each archive being unpacked two, whatever the size of
// packages.
const Size = 64 << 10

// Copy is io.Copy in full buffers, so that the writers get few calls. If ctx is done, it returns
// the cause of ctx. It writes what it read before an error.
func Copy(ctx context.Context, dst io.Writer, src io.Reader, buffer []byte) (n int64, err error) {
	for err == nil {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		var filled int
		filled, err = fill(src, buffer)
		if _, writeErr := dst.Write(buffer[:filled]); writeErr != nil {
			return n, writeErr
		}
		n += int64(filled)
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// SHA256 reads src to its end, and returns its checksum and its length. The errors are those of Copy.
func SHA256(ctx context.Context, src io.Reader) (sum [sha256.Size]byte, n int64, err error) {
	hash := sha256.New()
	n, err = Copy(ctx, hash, src, make([]byte, Size))
	hash.Sum(sum[:0])
	return sum, n, err
}

// fill is io.ReadFull, but returns the source's own error: io.ErrUnexpectedEOF from the source must
// not look like a short last buffer.
func fill(src io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = src.Read(buffer[n:])
		n += more
	}
	return n, err
}

// NewReader returns a reader that fails with the cause of ctx when ctx is done.
func NewReader(ctx context.Context, from io.Reader) io.Reader { return reader{ctx, from} }

type reader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// Counting is called with the number of bytes of each write; it may be nil.
type Counting func(bytes int64)

// Write implements io.Writer.
func (c Counting) Write(p []byte) (int, error) {
	if c != nil {
		c(int64(len(p)))
	}
	return len(p), nil
}

// Marking remembers the error of its reader, to tell it from that of whoever reads.
type Marking struct {
	io.Reader
	Err error // nil for io.EOF
}

// Read implements io.Reader.
func (m *Marking) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err != nil && err != io.EOF {
		m.Err = err
	}
	return n, err
}
