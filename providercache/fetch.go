package providercache

import (
	"context"
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
	// call not to matter; there is one such buffer for each download and each
	// unpacker at work, whatever the size of packages.
	bufferBytes = 256 << 10
)

func incomplete(from getproviders.Location, size, total int64, err error) error {
	if total < 0 {
		return fmt.Errorf("%s: after %d bytes: %w", from, size, err)
	}
	return fmt.Errorf("%s: after %d of %d bytes: %w", from, size, total, err)
}

// open returns the bytes of an archive and how many there will be, -1 if that
// isn't known.
func (in *Installer) open(ctx context.Context, from getproviders.Location) (io.ReadCloser, int64, error) {
	if at, ok := from.(getproviders.HTTPArchive); ok {
		return openHTTP(ctx, in.client(), at)
	}
	// Asked before it is opened, because opening a named pipe would wait for ever.
	info, err := os.Stat(from.String())
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a file", from)
	}
	file, err := os.Open(from.String())
	return file, info.Size(), err
}

// openHTTP asks for an archive. It is asked for as it is: an encoding for the
// transport would change the bytes that have to be hashed.
func openHTTP(ctx context.Context, client *http.Client, at getproviders.HTTPArchive) (io.ReadCloser, int64, error) {
	if at.URL == nil {
		return nil, 0, fmt.Errorf("the package has no URL")
	}
	req, err := http.NewRequestWithContext(hosts.WithArchiveOwner(ctx, at.Owner), http.MethodGet, at.URL.String(), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%s is not a URL that can be asked", at) // err would show the query
	}
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := hosts.Do(client, req, maxRedirects)
	if err != nil {
		return nil, 0, err
	}
	if err := checkResponse(resp); err != nil {
		resp.Body.Close()
		return nil, 0, err
	}
	return resp.Body, resp.ContentLength, nil
}

func checkResponse(resp *http.Response) error {
	url := hosts.RedactURL(resp.Request.URL)
	if resp.StatusCode != http.StatusOK {
		return &StatusError{URL: url, Status: resp.Status, Code: resp.StatusCode}
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return fmt.Errorf("GET %q: the server encoded the archive as %q although it was asked not to", url, encoding)
	}
	return nil
}

// StatusError says that a server answered a request for an archive with
// another status than 200. It matches getproviders.ErrUnauthorized for 401 and
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
