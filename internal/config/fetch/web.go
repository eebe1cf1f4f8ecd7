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
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// web downloads from servers.
type web struct {
	client      *http.Client
	credentials hosts.Credentials
	offline     bool
}

const (
	// maxPageBytes is how much of a page is read.
	maxPageBytes = 1 << 20
	// maxListBytes is far more than any list of checksums has.
	maxListBytes = 1 << 20
)

// answer is the recorded answer of a URL.
type answer struct {
	SHA256       string `json:"sha256"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	// Place is the hashed URL to which redirects led. The validators apply to that URL only.
	Place string `json:"place"`
}

// validators returns the headers of a conditional request.
func (a answer) validators() http.Header {
	switch {
	case a.ETag != "":
		return http.Header{"If-None-Match": {a.ETag}}
	case a.LastModified != "":
		return http.Header{"If-Modified-Since": {a.LastModified}}
	}
	return http.Header{}
}

// download downloads an archive. If the store has one of the URL, the request is conditional.
func (w web) download(ctx context.Context, kept store, from packageSource, dir string, limit int64) (archive content, err error) {
	if path, ok := kept.archive(ctx, from.known); ok {
		return content{path: path, sha256: from.known}, nil
	}
	at := from.parsed()
	var had answer
	var path string
	ok := kept.load(answersDir, from.url, &had)
	if ok {
		path, ok = kept.archive(ctx, had.SHA256)
	}
	switch {
	case !ok && w.offline:
		return archive, ErrOffline
	case w.offline:
		return content{path: path, sha256: had.SHA256}, nil
	case !ok:
		had = answer{}
	}
	get := func(header http.Header) (*http.Response, error) {
		if from.tokenOf != "" {
			if err := hosts.Authorize(ctx, w.credentials, from.tokenOf, at, header); err != nil {
				return nil, err
			}
		}
		return w.get(hosts.WithOwnConnection(ctx), at, header)
	}
	resp, err := get(had.validators())
	if err != nil {
		return archive, err
	}
	if resp.StatusCode == http.StatusNotModified && ok {
		resp.Body.Close()
		if had.Place == placeOf(resp) {
			return content{path: path, sha256: had.SHA256}, nil
		}
		if resp, err = get(http.Header{}); err != nil {
			return archive, err
		}
	}
	return receive(ctx, kept, from, resp, dir, limit)
}

// placeOf returns the hashed URL of an answer, without its query, which differs each time in signed
// URLs.
func placeOf(resp *http.Response) string {
	place := url.URL{Scheme: resp.Request.URL.Scheme, Host: resp.Request.URL.Host, Path: resp.Request.URL.Path}
	return nameOf(place.String())
}

// receive writes the body of an answer to a file, and records the answer.
func receive(ctx context.Context, kept store, from packageSource, resp *http.Response, dir string, limit int64) (archive content, err error) {
	defer resp.Body.Close()
	if _, ok := hosts.HasAll(resp); !ok {
		return archive, statusOf(resp)
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" && !isGzipOfItself(encoding, from.archive) {
		return archive, fmt.Errorf("%w: GET %q: the server encoded the archive as %q although it was asked not to",
			getproviders.ErrUnreachable, hosts.RedactURL(resp.Request.URL), encoding)
	}
	file, err := kept.newFile(dir)
	if err != nil {
		return archive, err
	}
	digest, err := writeBody(ctx, file, resp, limit)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = patient.Remove(file.Name())
		return archive, err
	}
	path := kept.keep(ctx, file.Name(), digest)
	kept.save(answersDir, from.url, answer{
		SHA256:       digest,
		ETag:         resp.Header.Get("ETag"),
		LastModified: lastModified(resp.Header),
		Place:        placeOf(resp),
	})
	return content{path: path, sha256: digest}, nil
}

// isGzipOfItself reports whether a content encoding describes the archive itself: some servers send
// gzip for all files with such a suffix.
func isGzipOfItself(encoding, archive string) bool {
	return (encoding == "gzip" || encoding == "x-gzip") && (archive == "tar.gz" || archive == "tgz" || archive == unnamed)
}

// writeBody writes the complete body, and returns its SHA-256.
func writeBody(ctx context.Context, file io.Writer, resp *http.Response, limit int64) (digest string, err error) {
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(reported(ctx, chunks.NewReader(ctx, resp.Body), resp.ContentLength), limit+1))
	switch {
	case err != nil:
	case size > limit:
		err = hosts.TooLarge(limit)
	case resp.ContentLength >= 0 && size != resp.ContentLength:
		err = fmt.Errorf("after %d of %d bytes: %w", size, resp.ContentLength, io.ErrUnexpectedEOF)
	default:
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	return "", hosts.BodyFailed(resp, err)
}

// lastModified returns Last-Modified if it is at least a minute before Date, so that a second
// change would have another time (RFC 9110, 8.8.2.2).
func lastModified(header http.Header) string {
	text := header.Get("Last-Modified")
	changed, err := http.ParseTime(text)
	answered, errDate := http.ParseTime(header.Get("Date"))
	if err != nil || errDate != nil || answered.Sub(changed) < time.Minute {
		return ""
	}
	return text
}

// ask requests the address of a package from a server.
func (w web) ask(ctx context.Context, from packageSource) (to modules.Remote, err error) {
	if w.offline {
		return to, fmt.Errorf("%w: its address comes from %s", ErrOffline, modules.Redact(from.url))
	}
	u := from.parsed()
	query := splitQuery(u.RawQuery)
	query.parts = append(query.parts, "terraform-get=1")
	u.RawQuery = query.String()
	resp, err := w.get(ctx, u, nil)
	if err != nil {
		return to, err
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return to, statusOf(resp)
	}
	answer := resp.Header.Get("X-Terraform-Get")
	if answer == "" {
		if answer, err = readMeta(resp.Body, maxPageBytes); err != nil {
			return to, fmt.Errorf("reading %s: %w", hosts.RedactURL(resp.Request.URL), err)
		}
	}
	if answer == "" {
		return to, fmt.Errorf("%w: %s is neither an archive by its name, nor does it say where the package is. "+
			"If it is one, say so with the parameter archive, as in \"?archive=zip\"", ErrNotFound, hosts.RedactURL(resp.Request.URL))
	}
	return fromAnswer(resp.Request.URL, answer)
}

// fromAnswer reads a server's answer with the address of a package.
func fromAnswer(server *url.URL, answer string) (to modules.Remote, err error) {
	if strings.HasPrefix(answer, "/") || strings.HasPrefix(answer, "./") || strings.HasPrefix(answer, "../") {
		relative, err := url.Parse(answer)
		if err != nil {
			return to, fmt.Errorf("the server's answer is not an address: %w", hosts.WithoutURL(err))
		}
		answer = server.ResolveReference(relative).String()
	}
	address, err := modules.ParseAddress(answer, getproviders.Terraform(""))
	if err != nil {
		return to, fmt.Errorf("the server's answer is not an address: %w", err)
	}
	to, ok := address.(modules.Remote)
	if !ok {
		return to, errors.New("the server answers with the address of a registry's module, not with that of a package")
	}
	return to, nil
}

// get requests a URL without content encoding, which would change the hashed bytes.
func (w web) get(ctx context.Context, u *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL that can be asked", hosts.RedactURL(u)) // err would show the query
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Accept-Encoding", "identity")
	return hosts.Do(w.client, req)
}

// readMeta returns the content of the first <meta name="terraform-get"> with content in the head of
// a page, or "". An error is the reader's.
func readMeta(page io.Reader, limit int64) (string, error) {
	body := &chunks.Marking{Reader: io.LimitReader(page, limit)}
	decoder := xml.NewDecoder(body)
	decoder.Strict = false
	decoder.AutoClose = xml.HTMLAutoClose
	decoder.Entity = xml.HTMLEntity
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // the tag itself is ASCII
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return "", body.Err // nil: not a page, or its head is malformed
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

// resolve returns the checksum, from the list if the address names one.
func (w web) resolve(ctx context.Context, from packageSource) (sum checksum, err error) {
	if from.checksum.kind != "file" {
		return from.checksum, nil
	}
	listURL, err := url.Parse(from.checksum.value)
	if err != nil {
		return sum, fmt.Errorf("%w: the list of checksums: %w", ErrAddress, hosts.WithoutURL(err))
	}
	text, err := w.readList(ctx, from, listURL)
	if err != nil {
		return sum, fmt.Errorf("the list of checksums: %w", err)
	}
	archive := from.parsed().Path
	if from.kind == "file" {
		archive = filepath.ToSlash(from.url)
	}
	names := []string{path.Base(archive), archive}
	if relative, err := filepath.Rel(path.Dir(listURL.Path), archive); err == nil {
		names = append(names, filepath.ToSlash(relative))
	}
	sum, found := parseChecksums(string(text), names)
	if !found {
		return sum, fmt.Errorf("%w: the list of checksums, %s, has none for %q", ErrChecksum, modules.Redact(from.checksum.value), names[0])
	}
	return sum, nil
}

// readList reads a list of checksums. Only for an archive of this machine may the list be a local
// file.
func (w web) readList(ctx context.Context, from packageSource, at *url.URL) ([]byte, error) {
	switch isWeb := at.Scheme == "http" || at.Scheme == "https"; {
	case from.kind == "file" && (at.Scheme == "file" || at.Scheme == ""):
		return wholefile.Read(filePath(at), maxListBytes)
	case !isWeb:
		return nil, fmt.Errorf("%w: it has to be at an http or https URL", ErrAddress)
	case w.offline:
		return nil, ErrOffline
	}
	resp, err := w.get(ctx, at, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != 200 {
		resp.Body.Close()
		return nil, statusOf(resp)
	}
	return hosts.ReadAll(resp, maxListBytes)
}
