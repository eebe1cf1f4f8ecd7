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

// Archive is a package archive that has been downloaded completely, to a path that
// other users can't write to.
type Archive struct {
	Path   string
	Size   int64
	SHA256 [sha256.Size]byte
	// Modified is when the archive was changed last, as its server or the file system
	// says; zero: not known.
	Modified time.Time
	File     *partialFile // open, so that it is the one that was written, whatever others do in a cache that they can write to; nil: none was
}

// IsWebPage reports whether the file begins as web pages do.
func (a Archive) IsWebPage() bool {
	if a.File == nil {
		return false
	}
	begin := make([]byte, 512) // all that is looked at
	n, _ := a.File.ReadAt(begin, 0)
	return strings.HasPrefix(http.DetectContentType(begin[:n]), "text/html")
}

// Keep closes the file, and leaves it for a later run if that can use it. It returns how many
// bytes stay.
func (a Archive) Keep() (kept int64) {
	return a.File.keep(true)
}

// Discard closes the file, and removes it unless it goes with the staging directory.
func (a Archive) Discard() {
	a.File.discard()
}

// Ask finds out the size of an archive, in bytes, and when it was changed last; -1 and zero: that isn't known. One that isn't on
// this machine is opened for that, and client is for an HTTPArchive.
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

// askWeb requests the first byte of an archive. The body of a server that sends all of it isn't read.
func askWeb(ctx context.Context, client *http.Client, at getproviders.HTTPArchive) (size int64, modified time.Time, err error) {
	req, err := newRequest(ctx, at)
	if err != nil {
		return -1, modified, err
	}
	req.Header.Set("Range", "bytes=0-0")
	resp, err := hosts.Do(client, req, maxRedirects)
	if err != nil {
		return -1, modified, err
	}
	defer resp.Body.Close()
	modified, _ = http.ParseTime(resp.Header.Get("Last-Modified"))
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.ContentLength, modified, nil
	case http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable: // it is empty
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
