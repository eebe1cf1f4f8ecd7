package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// answer is what a URL had when it was asked.
type answer struct {
	SHA256       string `json:"sha256"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Place is the name of the URL to which redirects led. Validators are those of
	// that place, and tell nothing of another one.
	Place string `json:"place"`
}

// validators make a request that a server may answer with "it is still the same".
func (a answer) validators() http.Header {
	switch {
	case a.ETag != "":
		return http.Header{"If-None-Match": {a.ETag}}
	case a.LastModified != "":
		return http.Header{"If-Modified-Since": {a.LastModified}}
	}
	return nil
}

// archiveFile is an archive on disk.
type archiveFile struct {
	path   string
	sha256 string // "" where nobody has to know it
}

// download gets the archive of a URL. One that is in the store is asked for on the
// condition that it has changed.
func (f *Fetcher) download(ctx context.Context, w *workshop, from origin, dir string) (archiveFile, error) {
	if path, ok := w.store.archive(ctx, from.known); ok {
		return archiveFile{path, from.known}, nil
	}
	at, err := url.Parse(from.url)
	if err != nil {
		return archiveFile{}, withoutURL(err)
	}
	var had answer
	var path string
	ok := w.store.load(answersDir, from.url, &had)
	if ok {
		path, ok = w.store.archive(ctx, had.SHA256)
	}
	switch {
	case !ok && f.Offline:
		return archiveFile{}, ErrOffline
	case f.Offline:
		return archiveFile{path, had.SHA256}, nil
	case !ok:
		had = answer{}
	}
	resp, err := f.get(ctx, at, had.validators())
	if err != nil {
		return archiveFile{}, err
	}
	if resp.StatusCode == http.StatusNotModified && ok {
		resp.Body.Close()
		if had.Place == placeOf(resp) {
			return archiveFile{path, had.SHA256}, nil
		}
		if resp, err = f.get(ctx, at, nil); err != nil {
			return archiveFile{}, err
		}
	}
	return f.receive(ctx, w, from, resp, dir)
}

// placeOf names the URL that an answer is from. Its query is left out, as it is
// another one each time where URLs are signed.
func placeOf(resp *http.Response) string {
	place := url.URL{Scheme: resp.Request.URL.Scheme, Host: resp.Request.URL.Host, Path: resp.Request.URL.Path}
	return nameOf(place.String())
}

// receive writes the body of an answer to a file, and remembers what the answer was.
func (f *Fetcher) receive(ctx context.Context, w *workshop, from origin, resp *http.Response, dir string) (archiveFile, error) {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return archiveFile{}, statusOf(resp)
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" && !isGzipOfItself(encoding, from.archive) {
		return archiveFile{}, fmt.Errorf("%w: GET %q: the server encoded the archive as %q although it was asked not to",
			getproviders.ErrUnreachable, hosts.RedactURL(resp.Request.URL), encoding)
	}
	file, err := w.store.newFile(dir)
	if err != nil {
		return archiveFile{}, err
	}
	digest, err := f.writeBody(ctx, file, resp)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return archiveFile{}, err
	}
	path := w.store.keep(ctx, file.Name(), digest)
	w.store.save(answersDir, from.url, answer{
		SHA256:       digest,
		ETag:         resp.Header.Get("ETag"),
		LastModified: lastModified(resp.Header),
		Place:        placeOf(resp),
	})
	return archiveFile{path, digest}, nil
}

// isGzipOfItself reports whether an encoding is what some servers say of all files
// with such a suffix: they mean the file.
func isGzipOfItself(encoding, archive string) bool {
	return (encoding == "gzip" || encoding == "x-gzip") && (archive == "tar.gz" || archive == "tgz")
}

// writeBody writes a body whole, and returns its SHA-256.
func (f *Fetcher) writeBody(ctx context.Context, file io.Writer, resp *http.Response) (digest string, err error) {
	limit := f.bounds.withDefaults().download
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(cancellable{ctx, resp.Body}, limit+1))
	request := &hosts.RequestError{Method: http.MethodGet, URL: hosts.RedactURL(resp.Request.URL), Attempts: hosts.Attempts(resp), Err: err}
	switch {
	case err != nil:
		return "", request
	case size > limit:
		request.Err = &hosts.TooLargeError{Limit: limit}
		return "", request
	case resp.ContentLength >= 0 && size != resp.ContentLength:
		request.Err = fmt.Errorf("after %d of %d bytes: %w", size, resp.ContentLength, io.ErrUnexpectedEOF)
		return "", request
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// lastModified returns the time of the last change, if it was so long before the
// answer that a second change would have another one (RFC 9110, 8.8.2.2).
func lastModified(header http.Header) string {
	text := header.Get("Last-Modified")
	changed, err := http.ParseTime(text)
	answered, errDate := http.ParseTime(header.Get("Date"))
	if err != nil || errDate != nil || answered.Sub(changed) < time.Minute {
		return ""
	}
	return text
}
