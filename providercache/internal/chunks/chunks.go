package chunks

import (
	"context"
	"io"
)

// bufferBytes is the unit of copying. Large enough for the costs of each call not
// to matter, and small enough to stay in a core's own cache between the steps that
// each byte goes through; there are one such buffer for each download and two for
// each archive that is being unpacked, whatever the size of packages.
const Size = 64 << 10

// copyChunks is io.Copy in whole buffers, so that the writers see few calls,
// which ends when ctx does. Buffers that aren't full are written before an
// error is returned.
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

// fill is io.ReadFull that leaves the source's error as it is: an early end
// must not look like a last buffer that isn't full.
func fill(src io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = src.Read(buffer[n:])
		n += more
	}
	return n, err
}
