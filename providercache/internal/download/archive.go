package download

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Archive is a package archive that was downloaded completely, to a path that other users can't write to.
type Archive struct {
	Path   string
	Size   int64
	SHA256 [sha256.Size]byte
	// Modified is when the archive was last modified, according to its server or the file system; zero: unknown.
	Modified time.Time
	File     *partialFile // open, so that no other process can exchange it in a cache that others can write to; nil: no file was written
}

// IsWebPage reports whether the file begins like a web page.
func (a Archive) IsWebPage() bool {
	if a.File == nil {
		return false
	}
	begin := make([]byte, 512) // as many as DetectContentType reads
	n, _ := a.File.ReadAt(begin, 0)
	return strings.HasPrefix(http.DetectContentType(begin[:n]), "text/html")
}

// Keep closes the file, and leaves it for a later run if that can use it. It returns how many bytes are kept.
func (a Archive) Keep() (kept int64) {
	return a.File.keep(true)
}

// Discard closes the file, and removes it unless it is removed with the staging directory.
func (a Archive) Discard() {
	a.File.discard()
}

// Ask returns the size of an archive, in bytes, and when it was last modified; -1 and zero if that
// isn't known. It opens an archive that isn't on this machine; client is for an HTTPArchive.
func Ask(ctx context.Context, client *http.Client, at getproviders.Location) (size int64, modified time.Time, err error) {
	switch at := at.(type) {
	case getproviders.LocalArchive:
		info, err := os.Stat(string(at))
		if err != nil {
			return -1, modified, err
		}
		return info.Size(), info.ModTime(), nil
	case getproviders.HTTPArchive:
		return askWeb(ctx, client, at)
	case getproviders.Archive:
		b, err := newBody(ctx, Opening{Location: at}, 0)
		if err != nil {
			return -1, modified, err
		}
		defer b.Close()
		return b.total, b.Modified(), nil
	}
	return -1, modified, nil
}

// askWeb requests the first byte of an archive. If the server sends all of it, the body isn't read.
func askWeb(ctx context.Context, client *http.Client, at getproviders.HTTPArchive) (size int64, modified time.Time, err error) {
	req, err := newRequest(ctx, at)
	if err != nil {
		return -1, modified, err
	}
	req.Header.Set("Range", "bytes=0-0")
	resp, err := hosts.Do(client, req)
	if err != nil {
		return -1, modified, err
	}
	defer resp.Body.Close()
	modified, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.ContentLength, modified, nil
	case http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable: // 416: it is empty
		return sizeIn(resp.Header.Get("Content-Range")), modified, nil
	}
	return -1, modified, fmt.Errorf("asking for the size: %w", newStatusError(resp, 0, ""))
}

// sizeIn reads "bytes 0-0/1234" and "bytes */1234".
func sizeIn(contentRange string) int64 {
	_, total, _ := strings.Cut(contentRange, "/")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil || size < 0 {
		return -1
	}
	return size
}
