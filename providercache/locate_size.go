package providercache

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// archiveSize finds out how large an archive is; -1 if it is none, or nobody says.
func (f *Fetcher) archiveSize(ctx context.Context, at getproviders.Location, ask bool) (int64, error) {
	switch at := at.(type) {
	case getproviders.LocalArchive:
		info, err := os.Stat(string(at))
		if err != nil {
			return -1, err
		}
		return info.Size(), nil
	case getproviders.HTTPArchive:
		if ask {
			return f.askSize(ctx, at)
		}
	}
	return -1, nil
}

// askSize asks for the first byte of an archive. A server that can't send a part
// announces the whole, which isn't read.
func (f *Fetcher) askSize(ctx context.Context, at getproviders.HTTPArchive) (int64, error) {
	req, err := newRequest(ctx, at)
	if err != nil {
		return -1, err
	}
	req.Header.Set("Range", "bytes=0-0")
	resp, err := hosts.Do(f.client(), req, maxRedirects)
	if err != nil {
		return -1, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return resp.ContentLength, nil
	case http.StatusPartialContent:
		return sizeIn(resp.Header.Get("Content-Range")), nil
	case http.StatusRequestedRangeNotSatisfiable:
		return sizeIn(resp.Header.Get("Content-Range")), nil // it is empty
	}
	return -1, fmt.Errorf("asking for the size: %w", &StatusError{URL: hosts.RedactURL(resp.Request.URL), Status: resp.Status, Code: resp.StatusCode})
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
