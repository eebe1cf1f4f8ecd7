package unpack

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/par"
)

// HashFile is Hash for a file, as far as the defaults of Limits go. read is called with the number of bytes of each read; nil: it isn't.
func HashFile(ctx context.Context, path string, read func(bytes int64)) (content Content, zh getproviders.Hash, err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is neither a package archive nor a directory", path)
	}
	if err != nil {
		return content, "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return content, "", err
	}
	defer file.Close()
	content, zh, err = Hash(ctx, file, countedReader{file, read}, par.NewLimit(1), info.Size(), getproviders.Provider{}, DefaultLimits())
	if err != nil {
		return Content{}, zh, fmt.Errorf("hashing the package %s: %w", path, err)
	}
	return content, zh, nil
}

// Hash hashes an archive of a provider, the zero one being any, and the files in it, in one pass if the archive can be read from its beginning, by
// reading what reads the file. It holds one of the slots for unpacking. The zh is returned even if the archive breaks the rules for packages.
func Hash(ctx context.Context, file *os.File, reading io.Reader, slots *par.Limit, size int64, p getproviders.Provider, limits Limits) (content Content, zh getproviders.Hash, err error) {
	found, err := HashStream(ctx, reading, slots, size, limits)
	if err == nil {
		content, err = found.Content(p, limits)
	}
	if err == nil {
		return content, getproviders.ZH(found.SHA256), nil
	}
	leave, err := slots.Acquire(ctx, size)
	if err != nil {
		return content, "", err
	}
	defer leave()
	// Reading it twice, the second time by its directory, says what is wrong.
	sum, size, err := chunks.SHA256(ctx, io.NewSectionReader(file, 0, math.MaxInt64))
	if err != nil {
		return content, "", err
	}
	whole, err := Open(file, size, p, limits)
	if err == nil {
		content, err = whole.Unpack(ctx, "")
	}
	return content, getproviders.ZH(sum), err
}

// countedReader tells a function of each read, if there is one.
type countedReader struct {
	io.Reader
	read func(bytes int64)
}

func (c countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.read != nil {
		c.read(int64(n))
	}
	return n, err
}
