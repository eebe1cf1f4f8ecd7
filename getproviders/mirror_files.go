package getproviders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hosts"
)

// mirrorFiles is where the files of a network mirror are that no web server has: the
// objects of a bucket, say. Paths have slashes between their names, and are those
// of the protocol: "registry.terraform.io/hashicorp/random/index.json". It is safe for many
// goroutines.
type mirrorFiles interface {
	// ReadFile returns the content of a file. The error matches fs.ErrNotExist if
	// there is none, and is a *hosts.TooLargeError if it has more than limit bytes.
	ReadFile(ctx context.Context, path string, limit int64) ([]byte, error)
	// Archive returns a file that may be large; it isn't read here, and needn't exist.
	Archive(path string) Archive
	// String is the URL that all paths are below, without secrets: s3://bucket/mirror. It may have the parameter endpoint.
	String() string
}

// NewStoredMirrorSource returns the source that is a network mirror whose files lie
// elsewhere than on a web server. What its documents say of archives by references
// is below the URL of the files; whole URLs of http and https are possible, too.
// The error is one of that URL, which doesn't have the form of one. It is for package mirror, whose Source reads a bucket.
func NewStoredMirrorSource(files mirrorFiles) (*NetworkMirrorSource, error) {
	base, err := url.Parse(files.String())
	if err != nil || base.Scheme == "" || base.Host == "" {
		return nil, fmt.Errorf("the files of a mirror need a URL with scheme and host, and not %q", files)
	}
	base.Path, base.RawPath = strings.TrimSuffix(base.Path, "/")+"/", ""
	return &NetworkMirrorSource{base: base, files: files}, nil
}

// get gets a document from the server, or from where the files are.
func (s *NetworkMirrorSource) get(ctx context.Context, req hosts.DocumentRequest) (*hosts.Document, error) {
	if s.files == nil {
		return hosts.GetDocument(ctx, s.client, req)
	}
	doc := &hosts.Document{URL: req.URL, StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Attempts: 1}
	content, err := s.files.ReadFile(ctx, s.pathOf(req.URL), req.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		doc.StatusCode = http.StatusNotFound
	case err != nil:
		return nil, err
	}
	doc.Body = content
	return doc, nil
}

// pathOf is the path of a file; "" if the URL isn't below that of the files.
func (s *NetworkMirrorSource) pathOf(u *url.URL) string {
	path, below := strings.CutPrefix(u.Path, s.base.Path)
	if s.files == nil || !below || u.Scheme != s.base.Scheme || u.Host != s.base.Host {
		return ""
	}
	return path
}

// locate returns where the archive is that the document at a URL names.
func (s *NetworkMirrorSource) locate(archive, doc *url.URL) (Location, error) {
	if path := s.pathOf(archive); path != "" {
		return s.files.Archive(path), nil
	}
	if archive.Scheme != "http" && archive.Scheme != "https" {
		return nil, fmt.Errorf("url leads to %s, which isn't below %s", hosts.RedactURL(archive), s.baseURL())
	}
	return describedArchive(archive, doc, s.base, s.host), nil
}
