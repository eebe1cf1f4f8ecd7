package providercache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

const (
	// maxRedirects is how far away an archive may be: what the field's clients allow.
	maxRedirects = 10
	// bufferBytes is the unit of copying. Large enough for the costs of each
	// call not to matter, and small enough to stay in a core's own cache between
	// the steps that each byte goes through; there are one such buffer for each
	// download and two for each archive that is being unpacked, whatever the size
	// of packages.
	bufferBytes = 64 << 10
)

// source brings the bytes of an archive.
type source interface {
	io.ReadCloser
	length() int64 // of the whole archive; -1: not known yet
}

// localFile is an archive on this machine.
type localFile struct {
	*os.File
	size int64
}

func (f localFile) length() int64 { return f.size }

// openFile opens an archive on this machine.
func openFile(path string) (source, error) {
	// Asked before it is opened, because opening a named pipe would wait for ever.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return localFile{file, info.Size()}, nil
}

// newRequest asks for an archive as it is: an encoding for the transport would
// change the bytes that have to be hashed.
func newRequest(ctx context.Context, at getproviders.HTTPArchive) (*http.Request, error) {
	if at.URL == nil {
		return nil, errors.New("the package has no URL")
	}
	ctx = hosts.WithOwnConnection(hosts.WithArchiveOwner(ctx, at.Owner))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL that can be asked", at) // err would show the query
	}
	req.Header.Set("Accept-Encoding", "identity")
	return req, nil
}

// checkResponse makes sure that an answer has the status that it should, and
// the archive as it is.
func checkResponse(resp *http.Response, status int) error {
	url := hosts.RedactURL(resp.Request.URL)
	if resp.StatusCode != status {
		return &StatusError{URL: url, Status: resp.Status, Code: resp.StatusCode}
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("GET %q: the server encoded the archive as %q although it was asked not to", url, encoding)
	}
	return nil
}

// StatusError says that a server answered a request for an archive with
// another status than 200 (or, for the rest of one, 206). It matches getproviders.ErrUnauthorized for 401 and
// 403, and getproviders.ErrUnreachable for the rest.
type StatusError struct {
	URL    string // that answered, redirects followed; without secrets
	Status string // "404 Not Found"
	Code   int
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("GET %q: %s", e.URL, e.Status) }

// Is tells the two kinds apart.
func (e *StatusError) Is(target error) bool {
	if e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden {
		return target == getproviders.ErrUnauthorized
	}
	return target == getproviders.ErrUnreachable
}

// copyChunks is io.Copy in whole buffers, so that the writers see few calls,
// which ends when ctx does. Buffers that aren't full are written before an
// error is returned.
func copyChunks(ctx context.Context, dst io.Writer, src io.Reader, buffer []byte) (n int64, err error) {
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
