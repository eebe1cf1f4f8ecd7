package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// archive is a blob of a repository.
type archive struct {
	repo   *remote.Repository
	at     Repository
	digest digest.Digest
	size   int64
}

var _ getproviders.Archive = (*archive)(nil)

// String names the repository and the digest.
func (a *archive) String() string { return a.at.url() + "@" + a.digest.String() }

// Open implements getproviders.Archive. A registry that doesn't support ranges sends the whole
// archive.
func (a *archive) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	opened := getproviders.OpenedArchive{Size: a.size, Validator: a.digest.String()}
	if offset >= a.size { // the partial file is of another archive
		offset = 0
	}
	ctx = auth.AppendRepositoryScope(hosts.WithOwnConnection(ctx), a.repo.Reference, auth.ActionPull)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://%s/v2/%s/blobs/%s", a.repo.Reference.Host(), a.at.Name, a.digest), nil)
	if err != nil {
		return opened, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		req.Header.Set("Range", hosts.RangeOf(offset, 0))
	}
	resp, err := a.repo.Client.Do(req)
	if err != nil {
		return opened, fmt.Errorf("%s: %w", a, explained(err))
	}
	switch begins := fmt.Sprintf("bytes %d-", offset); {
	case resp.StatusCode == http.StatusOK:
		opened.Body = resp.Body
	case resp.StatusCode == http.StatusPartialContent && offset > 0 && strings.HasPrefix(resp.Header.Get("Content-Range"), begins):
		opened.Body, opened.Offset = resp.Body, offset
	default:
		err = &errcode.ErrorResponse{Method: resp.Request.Method, URL: resp.Request.URL, StatusCode: resp.StatusCode}
		resp.Body.Close()
		return opened, fmt.Errorf("%s: %w", a, explained(err))
	}
	opened.Body = &limited{ReadCloser: opened.Body, left: a.size - opened.Offset}
	return opened, nil
}

// repositoryOf returns the repository of an archive that a [Source] has found, or the zero Repository for other
// archives.
func repositoryOf(l getproviders.Location) Repository {
	if a, ok := l.(*archive); ok {
		return a.at
	}
	return Repository{}
}

// errLonger says that a registry sends more bytes than the manifest's size.
var errLonger = errors.New("the registry sends more than the manifest says")

// limited is a body that fails after a number of bytes.
type limited struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errLonger
	}
	return n, err
}
