package link

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/providercache/internal/chunks"
)

// copyTree copies a directory.
func copyTree(ctx context.Context, from, to string) error {
	var buffer []byte // only some systems need it
	return makeTree(ctx, from, to, func(file original, to string) error {
		return makeFrom(file, to, func(target, source *os.File) error {
			err := copyBySystem(ctx, target, source)
			if !errors.Is(err, errors.ErrUnsupported) {
				return err
			}
			if buffer == nil {
				buffer = make([]byte, chunks.Size)
			}
			return copyByBuffer(ctx, target, source, buffer)
		})
	})
}

// copyByBuffer copies all of a file, whatever of it the target has already.
func copyByBuffer(ctx context.Context, target, source *os.File, buffer []byte) error {
	_, err := source.Seek(0, io.SeekStart)
	if err == nil {
		err = target.Truncate(0)
	}
	if err == nil {
		_, err = target.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = chunks.Copy(ctx, target, source, buffer)
	}
	return err
}
