package getproviders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/par"
)

const (
	// mirrorAnswerBytes is the largest answer of a mirror. An index has some 20 bytes for each
	// version, a version's document under a kilobyte for each platform.
	mirrorAnswerBytes = 16 << 20

	// mirrorRedirects is the largest number of redirects, as in Terraform and OpenTofu.
	mirrorRedirects = 5
)

// ask gets one of a provider's documents. The status is 200 or 404.
func (s *NetworkMirrorSource) ask(ctx context.Context, p Provider, name string) (*hosts.Document, error) {
	req, err := s.request(ctx, p, name, mirrorAnswerBytes)
	if err != nil {
		return nil, err
	}
	doc, err := s.get(ctx, req)
	switch {
	case err != nil:
		return nil, queryError(ctx, kindMirror, p, err)
	case doc.StatusCode == http.StatusNotFound:
		return doc, nil
	case doc.StatusCode != http.StatusOK:
		return nil, s.advised(statusError(kindMirror, p, s.host, req, doc), doc)
	}
	if err := checkMediaType(doc); err != nil {
		return nil, s.malformed(p, doc, err)
	}
	return doc, nil
}

// request returns a request for a file in a provider's directory.
func (s *NetworkMirrorSource) request(ctx context.Context, p Provider, name string, maxBytes int64) (hosts.DocumentRequest, error) {
	if err := p.Validate(); err != nil {
		return hosts.DocumentRequest{}, err
	}
	req := hosts.DocumentRequest{
		URL:          s.base.ResolveReference(s.documentPath(p, name)),
		Header:       hosts.VersionHeader(s.product.Version),
		MaxRedirects: mirrorRedirects,
		MaxBytes:     maxBytes,
	}
	if s.files != nil {
		return req, nil
	}
	if err := hosts.Authorize(ctx, s.credentials, s.host, req.URL, req.Header); err != nil {
		return req, queryError(ctx, kindMirror, p, err)
	}
	return req, nil
}

// documentPath returns the path of a document below the base URL. It returns a URL and not a
// string, because a host with a port in a string would parse as a scheme. mirrorFiles have the
// names of a filesystem mirror's directories.
func (s *NetworkMirrorSource) documentPath(p Provider, name string) *url.URL {
	if s.files != nil {
		return &url.URL{Path: layout.ProviderPath(p) + "/" + name}
	}
	return &url.URL{Path: strings.Join([]string{p.Hostname.ASCII(), p.Namespace, p.Type, name}, "/")}
}

// checkMediaType refuses an answer that isn't declared to be JSON, because it is often a gateway's
// login page.
func checkMediaType(doc *hosts.Document) error {
	declared := doc.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(declared); err == nil && mediaType == "application/json" {
		return nil
	}
	return fmt.Errorf("its Content-Type is %.80q and has to be application/json", declared)
}

// malformed returns the error for a document that doesn't follow the protocol.
func (s *NetworkMirrorSource) malformed(p Provider, doc *hosts.Document, err error) error {
	return s.advised(malformedError(kindMirror, p, doc, err), doc)
}

// advised adds a hint about the mirror's URL to an error, judging by the answer.
func (s *NetworkMirrorSource) advised(err error, doc *hosts.Document) error {
	if failed := FaultOf(err, ErrUnreachable); failed != nil {
		failed.Hint = s.advice(doc)
	}
	return err
}

// advice says what may be wrong with the mirror's URL, judging by an answer that can't be used, or
// returns "".
func (s *NetworkMirrorSource) advice(doc *hosts.Document) string {
	switch last := path.Base(s.base.Path); {
	case isRegistryError(doc.Body), strings.HasSuffix(s.base.Path, "/v1/providers/"):
		return notMirror
	case s.base.Path != "" && !strings.HasSuffix(s.base.Path, "/"):
		return fmt.Sprintf("the mirror's URL %s has no slash at its end, so its last part, %q, is missing in %s: add the slash",
			s.baseURL(), last, hosts.RedactURL(doc.URL))
	default:
		return ""
	}
}

const notMirror = "it looks like a provider registry, which speaks another protocol than a network mirror: install directly from it, or name the URL of a mirror"

// isRegistryHost asks whether the host of a mirror's URL has a service discovery document. It
// returns false for a URL with a path, without a request.
func (s *NetworkMirrorSource) isRegistryHost(ctx context.Context) bool {
	if s.files != nil || strings.Trim(s.base.Path, "/") != "" {
		return false
	}
	at := *s.base
	at.User, at.Path, at.RawPath = nil, "/.well-known/terraform.json", ""
	doc, err := hosts.GetDocument(ctx, s.client, hosts.DocumentRequest{URL: &at, MaxBytes: failureBytes})
	return err == nil && doc.StatusCode == http.StatusOK && json.Valid(doc.Body)
}

// failureBytes is more than a discovery document needs.
const failureBytes = 64 << 10

// NetworkMirrorSource installs from a server that speaks the provider network mirror protocol: documents and archives
// below one URL, for providers of any host. Make one with [NewNetworkMirrorSource], or with [NewStoredMirrorSource]
// if the files are elsewhere.
//
// Requests for documents have the credentials of the mirror's own host and port, and no redirect takes those to
// another host. Requests for archives have none: the protocol expects signed URLs.
//
// The mirror's hashes, if it lists any, are trusted only to tell that an archive is the one that the mirror means;
// they don't tell who made it. For that, tfdeps' mirrors have the version's checksum list, its signature and the keys
// beside the document about the version (terraform-provider-TYPE_VERSION_SHA256SUMS, and the same name with .sig and
// .keys.json behind it): if a key that counts has signed the list
// ([Signers]), it authenticates the archive as if it came from the registry. The protocol doesn't know these files,
// so other mirrors may answer anything: any failure to get the signature means that the mirror has no such files. The
// signature is requested once for each version, and not if the lock file has such hashes already
// ([Trust].LocalTrust).
//
// Differences from Terraform and OpenTofu: a version that the mirror lacks may come from another source, where they
// fail; they can't ask a mirror for providers whose host has a port; they accept no plain http, not even on a
// loopback address; they crash if a platform's archive is null; and they ignore what follows a document, which is an
// error here.
//
// It asks for the versions of a provider once and caches the answer for VersionsMaxAge, so that one run sees one
// state of the mirror.
type NetworkMirrorSource struct {
	client      *http.Client
	base        *url.URL
	host        hosts.Hostname
	credentials hosts.Credentials
	product     Product
	files       mirrorFiles // the files, if no server has them; nil means a server

	// Signers says whose signatures count for archives. Don't change it after the first use.
	Signers Signers
	// TrustAllHashes, as OpenTofu's setting of the name, treats the hashes that the mirror lists for the packages of all platforms as
	// signed, so that they get into lock files. Don't change it after the first use.
	TrustAllHashes bool
	// VersionsMaxAge is how long a list of versions is cached; 0 means 15 minutes, a negative value
	// for ever. Don't change it after the first use.
	VersionsMaxAge time.Duration

	indexes   par.Aged[Provider, mirrorIndex]
	documents par.Aged[packageKey, *signedChecksums] // by version; keys and signatures expire
}

// baseURL is the mirror's base URL without secrets. It keeps a bucket's parameter endpoint, which says whose bucket it is.
func (s *NetworkMirrorSource) baseURL() string { return hosts.RedactURL(s.base, "endpoint") }

// mirrorFiles are the files of a network mirror that isn't on a web server, such as the objects of
// a bucket. Paths are those of the protocol, with slashes:
// "registry.terraform.io/hashicorp/random/index.json". Many goroutines may use it.
type mirrorFiles interface {
	// ReadFile returns the content of a file. The error matches fs.ErrNotExist if the file doesn't
	// exist, and hosts.ErrTooLarge if it has more than limit bytes.
	ReadFile(ctx context.Context, path string, limit int64) ([]byte, error)
	// Archive returns a file that may be large. It doesn't read the file, which needn't exist.
	Archive(path string) Archive
	// String returns the base URL of all paths, without secrets: s3://bucket/mirror. It may have the parameter endpoint.
	String() string
}

// get gets a document from the server or from the files.
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

// pathOf returns the path of a file, or "" if the URL isn't below the URL of the files.
func (s *NetworkMirrorSource) pathOf(u *url.URL) string {
	path, below := strings.CutPrefix(u.Path, s.base.Path)
	if s.files == nil || !below || u.Scheme != s.base.Scheme || u.Host != s.base.Host {
		return ""
	}
	return path
}

// locate returns the location of an archive that the document at the URL doc names.
func (s *NetworkMirrorSource) locate(archive, doc *url.URL) (Location, error) {
	if path := s.pathOf(archive); path != "" {
		return s.files.Archive(path), nil
	}
	if archive.Scheme != "http" && archive.Scheme != "https" {
		return nil, fmt.Errorf("url leads to %s, which isn't below %s", hosts.RedactURL(archive), s.baseURL())
	}
	return describedArchive(archive, doc, s.base, s.host), nil
}

// mirrorIndex is a mirror's answer about the versions of a provider.
type mirrorIndex struct {
	versions []Version
	missing  error // set if the mirror doesn't have the provider, with a hint
}
