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

// HashFile hashes an archive and the files in it, in one pass if the archive can be read from its beginning. The zh is returned even if the archive
// breaks the rules for packages. read is called with the number of bytes of each read; nil: it isn't.
func HashFile(ctx context.Context, path string, read func(bytes int64)) (content Content, zh getproviders.Hash, err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is neither a package archive nor a directory", path)
	}
	if err != nil {
		return Content{}, "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return Content{}, "", err
	}
	defer file.Close()
	limits := Limits{}.WithDefaults()
	found, err := HashStream(ctx, countedReader{file, read}, par.NewLimit(1), info.Size(), limits)
	if err == nil {
		content, err = found.Content(getproviders.Provider{}, limits)
		zh = getproviders.ZH(found.SHA256)
	}
	if err != nil {
		content, zh, err = hashZip(ctx, file, limits) // which says what is wrong
	}
	if err != nil {
		return Content{}, zh, fmt.Errorf("hashing the package %s: %w", path, err)
	}
	return content, zh, nil
}

// hashZip reads an archive twice, the second time by its directory.
func hashZip(ctx context.Context, file *os.File, limits Limits) (content Content, zh getproviders.Hash, err error) {
	sum, size, err := chunks.SHA256(ctx, io.NewSectionReader(file, 0, math.MaxInt64))
	if err != nil {
		return Content{}, "", err
	}
	zh = getproviders.ZH(sum)
	whole, err := openFile(file, size, getproviders.Provider{}, limits)
	if err == nil {
		content, err = whole.Unpack(ctx, "")
	}
	return content, zh, err
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
