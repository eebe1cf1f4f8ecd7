package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
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
	return http.Header{}
}

// archiveFile is an archive on disk.
type archiveFile struct {
	path   string
	sha256 string // "" where it isn't needed
}

// download gets the archive of a URL. One that is in the store is asked for on the
// condition that it has changed.
func (f *Fetcher) download(ctx context.Context, w *session, from packageSource, dir string) (archiveFile, error) {
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
	get := func(header http.Header) (*http.Response, error) {
		if from.tokenOf != "" {
			if err := hosts.Authorize(ctx, f.Credentials, from.tokenOf, at, header); err != nil {
				return nil, err
			}
		}
		return f.get(ctx, at, header)
	}
	resp, err := get(had.validators())
	if err != nil {
		return archiveFile{}, err
	}
	if resp.StatusCode == http.StatusNotModified && ok {
		resp.Body.Close()
		if had.Place == placeOf(resp) {
			return archiveFile{path, had.SHA256}, nil
		}
		if resp, err = get(http.Header{}); err != nil {
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
func (f *Fetcher) receive(ctx context.Context, w *session, from packageSource, resp *http.Response, dir string) (archiveFile, error) {
	defer resp.Body.Close()
	if _, ok := hosts.HasAll(resp); !ok {
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
	if err = errors.Join(err, file.Close()); err != nil {
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
	return (encoding == "gzip" || encoding == "x-gzip") && (archive == "tar.gz" || archive == "tgz" || archive == unnamed)
}

// writeBody writes a body whole, and returns its SHA-256.
func (f *Fetcher) writeBody(ctx context.Context, file io.Writer, resp *http.Response) (digest string, err error) {
	limit := f.bounds.withDefaults().download
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(reported(ctx, chunks.NewReader(ctx, resp.Body), resp.ContentLength), limit+1))
	request := &hosts.RequestError{Method: http.MethodGet, URL: hosts.RedactURL(resp.Request.URL), Attempts: hosts.Attempts(resp), Err: err}
	switch {
	case err != nil:
	case size > limit:
		request.Err = &hosts.TooLargeError{Limit: limit}
	case resp.ContentLength >= 0 && size != resp.ContentLength:
		request.Err = fmt.Errorf("after %d of %d bytes: %w", size, resp.ContentLength, io.ErrUnexpectedEOF)
	default:
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	return "", request
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

// location is where a package is, after all that servers say about it.
type location struct {
	packageSource
	address string // what the source was read from
	subdir  string // from the answer of a server; it may be a pattern
	hopped  bool   // whether a server answered with this address
}

const (
	// maxHops is how often a server may say that the package is elsewhere.
	maxHops = 10
	// maxPageBytes is how far a page is read.
	maxPageBytes = 1 << 20
)

// locate finds out where a package is. Its address is rewritten already.
func (f *Fetcher) locate(ctx context.Context, w *session, req modules.FetchRequest) (location, error) {
	if req.Served.Here {
		return location{address: req.Package, packageSource: packageSource{kind: "http", url: req.Package, archive: unnamed, tokenOf: req.Served.TokenOf}}, nil
	}
	if at, ok := w.store.recall(ctx, req); ok {
		return at, nil
	}
	release, err := w.gate.Acquire(ctx, 0)
	if err != nil {
		return location{}, err
	}
	defer release()
	at := location{address: req.Package}
	for hops := 0; ; hops++ {
		if at.packageSource, err = parseSource(at.address, at.hopped); err != nil {
			return location{}, failed(stepAddress, err)
		}
		at.own = req.Own
		if at.kind == "oci" && f.OCI == nil {
			return location{}, failed(stepAddress, errNoOCI)
		}
		if !at.isPage() {
			if f.Offline && at.kind == "git" && at.archive == "" {
				at.known = req.Commit
			}
			return at, nil
		}
		if hops == maxHops {
			return location{}, failed(stepLocate, fmt.Errorf("the package is always elsewhere, after %d answers still; the last one leads to %s", maxHops, modules.Redact(at.address)))
		}
		next, err := f.ask(ctx, at.packageSource)
		if err != nil {
			return location{}, failed(stepLocate, err)
		}
		at = location{address: f.rewritten(next.Package), subdir: path.Join(next.Subdir, at.subdir), hopped: true}
	}
}

// rewritten is what is to be used instead of an address.
func (f *Fetcher) rewritten(pkg string) string {
	if f.Rewrite == nil {
		return pkg
	}
	return f.Rewrite(pkg)
}

// ask asks a server where a package is.
func (f *Fetcher) ask(ctx context.Context, from packageSource) (modules.Remote, error) {
	if f.Offline {
		return modules.Remote{}, fmt.Errorf("%w: %s says where it is", ErrOffline, modules.Redact(from.url))
	}
	u, err := url.Parse(from.url)
	if err != nil {
		return modules.Remote{}, withoutURL(err)
	}
	query := splitQuery(u.RawQuery)
	query.parts = append(query.parts, "terraform-get=1")
	u.RawQuery = query.String()
	resp, err := f.get(ctx, u, nil)
	if err != nil {
		return modules.Remote{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return modules.Remote{}, statusOf(resp)
	}
	answer := resp.Header.Get("X-Terraform-Get")
	if answer == "" {
		if answer, err = readMeta(resp.Body, maxPageBytes); err != nil {
			return modules.Remote{}, fmt.Errorf("reading %s: %w", hosts.RedactURL(resp.Request.URL), err)
		}
	}
	if answer == "" {
		return modules.Remote{}, fmt.Errorf("%w: %s is neither an archive by its name, nor does it say where the package is. "+
			"If it is one, say so with the parameter archive, as in \"?archive=zip\"", ErrNotFound, hosts.RedactURL(resp.Request.URL))
	}
	return fromAnswer(resp.Request.URL, answer)
}

// fromAnswer reads what a server said of where a package is.
func fromAnswer(server *url.URL, answer string) (modules.Remote, error) {
	if strings.HasPrefix(answer, "/") || strings.HasPrefix(answer, "./") || strings.HasPrefix(answer, "../") {
		relative, err := url.Parse(answer)
		if err != nil {
			return modules.Remote{}, fmt.Errorf("the server's answer is no address: %w", withoutURL(err))
		}
		answer = server.ResolveReference(relative).String()
	}
	address, err := modules.ParseAddress(answer, getproviders.Terraform(""))
	if err != nil {
		return modules.Remote{}, fmt.Errorf("the server's answer is no address: %w", err)
	}
	remote, ok := address.(modules.Remote)
	if !ok {
		return modules.Remote{}, errors.New("the server answers with the address of a registry's module, not with that of a package")
	}
	return remote, nil
}

// maxRedirects is how many redirects of HTTP are followed for each request.
const maxRedirects = 10

// get sends a request for a URL. What it gets is not encoded for the way: that
// would change the bytes that are hashed.
func (f *Fetcher) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL that can be asked", hosts.RedactURL(u)) // err would show the query
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Accept-Encoding", "identity")
	return hosts.Do(f.Client, req, maxRedirects)
}

// readMeta finds the content of the first <meta name="terraform-get"> that has one,
// in the head of a page. It returns "" if there is none. An error is one of the reader.
func readMeta(page io.Reader, limit int64) (string, error) {
	body := &failingReader{Reader: io.LimitReader(page, limit)}
	decoder := xml.NewDecoder(body)
	decoder.Strict = false
	decoder.AutoClose = xml.HTMLAutoClose
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // the tag itself is ASCII
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return "", body.err // without one: not a page, or not a head that can be read
		}
		switch token := token.(type) {
		case xml.EndElement:
			if strings.EqualFold(token.Name.Local, "head") {
				return "", nil
			}
		case xml.StartElement:
			if strings.EqualFold(token.Name.Local, "body") {
				return "", nil
			}
			if content := metaContent(token); content != "" {
				return content, nil
			}
		}
	}
}

// failingReader keeps the error that its reader ended with, apart from what a decoder says of the content.
type failingReader struct {
	io.Reader
	err error
}

func (r *failingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func metaContent(element xml.StartElement) string {
	if !strings.EqualFold(element.Name.Local, "meta") {
		return ""
	}
	name, content := "", ""
	for _, attribute := range element.Attr {
		switch strings.ToLower(attribute.Name.Local) {
		case "name":
			name = attribute.Value
		case "content":
			content = attribute.Value
		}
	}
	if name != "terraform-get" {
		return ""
	}
	return content
}
