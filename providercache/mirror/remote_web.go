package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/remote"
)

// OnWeb returns the Remote of a bucket behind a web server or a CDN: each package is below base under
// its Key. Packages can only be pulled. client sends all requests; nil: one that tries a failed request once more.
func OnWeb(client *http.Client, base *url.URL) Remote {
	return webRemote{client, base}
}

// errReadOnly says that a remote can't be pushed to.
var errReadOnly = errors.New("packages can only be pulled from a web server: push them to the bucket or the registry behind it")

// errForbidden says that a server answers 403. Servers in front of buckets do so for
// wrong logins, but also for missing objects, if they may not list the bucket.
var errForbidden = errors.New("the server answers 403")

type webRemote struct {
	client *http.Client
	base   *url.URL
}

// At implements Remote.
func (r webRemote) At(n remote.Name) (remote.Archive, error) {
	key, err := n.Key()
	return webArchive{r.client, r.base.JoinPath(key)}, err
}

// String implements Remote.
func (r webRemote) String() string { return hosts.RedactURL(r.base) }

// webArchive is an archive on a web server.
type webArchive struct {
	client *http.Client
	url    *url.URL
}

// Open implements Archive.
func (p webArchive) Open(ctx context.Context, offset int64) (opened getproviders.OpenedArchive, err error) {
	resp, err := p.ask(hosts.WithOwnConnection(ctx), http.MethodGet, offset)
	if err != nil {
		return opened, err
	}
	if begins := fmt.Sprintf("bytes %d-", offset); resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), begins) {
		opened.Offset = offset
	} else if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return opened, fmt.Errorf("the server answers a request for a part with %s", resp.Status)
	}
	opened.Body, opened.Size = resp.Body, -1
	// The name contains the content's hash, so the Last-Modified time is enough to tell two versions apart.
	opened.Validator = cmp.Or(resp.Header.Get("ETag"), resp.Header.Get("Last-Modified"))
	if resp.ContentLength >= 0 {
		opened.Size = opened.Offset + resp.ContentLength
	}
	return opened, nil
}

// Exists implements Archive.
func (p webArchive) Exists(ctx context.Context) (bool, error) {
	resp, err := p.ask(ctx, http.MethodHead, 0)
	if err == remote.ErrAbsent {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, resp.Body.Close()
}

// ask sends a request for the archive. The caller has to close the response's body.
func (p webArchive) ask(ctx context.Context, method string, offset int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.url.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		req.Header.Set("Range", hosts.RangeOf(offset, 0))
	}
	resp, err := hosts.Do(p.client, req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode == http.StatusOK, resp.StatusCode == http.StatusPartialContent:
		if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
			err = fmt.Errorf("the server encoded the archive as %q although it was asked not to", encoding)
		}
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		err = remote.ErrAbsent
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && offset > 0:
		resp.Body.Close()
		return p.ask(ctx, method, 0)
	default:
		err = fmt.Errorf("the server answers %s", resp.Status)
		if hosts.Refuses(resp.StatusCode) {
			err = fmt.Errorf("%w: %w", hosts.ErrUnauthorized, err)
		}
		if resp.StatusCode == http.StatusForbidden {
			err = &getproviders.Fault{Kind: errForbidden, Err: err}
		}
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// Put implements Archive.
func (p webArchive) Put(context.Context, *io.SectionReader) error { return errReadOnly }

// String returns the archive's URL.
func (p webArchive) String() string { return hosts.RedactURL(p.url) }
