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
	// mirrorAnswerBytes is how large an answer of a mirror may be. An index has
	// some 20 bytes for each version, a version's document under a kilobyte for
	// each platform.
	mirrorAnswerBytes = 16 << 20

	// mirrorRedirects is how many redirects are followed, as in Terraform and OpenTofu.
	mirrorRedirects = 5
)

// ask gets one of a provider's documents, which is there or answers 404.
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

// request is for something in a provider's directory.
func (s *NetworkMirrorSource) request(ctx context.Context, p Provider, name string, maxBytes int64) (hosts.DocumentRequest, error) {
	if err := p.Validate(); err != nil {
		return hosts.DocumentRequest{}, err
	}
	req := hosts.DocumentRequest{
		URL:          s.base.ResolveReference(s.documentPath(p, name)),
		Header:       versionHeader(s.product),
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

// documentPath is where a document is below the base URL. It is a path and no
// text, in which the port of a provider's host would make a scheme of the host.
// Files have the names that directories of a filesystem mirror have.
func (s *NetworkMirrorSource) documentPath(p Provider, name string) *url.URL {
	if s.files != nil {
		return &url.URL{Path: layout.ProviderPath(p) + "/" + name}
	}
	return &url.URL{Path: strings.Join([]string{p.Hostname.ASCII(), p.Namespace, p.Type, name}, "/")}
}

// checkMediaType refuses what isn't declared to be JSON: it tends to be the
// login page of a gateway.
func checkMediaType(doc *hosts.Document) error {
	declared := doc.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(declared); err == nil && mediaType == "application/json" {
		return nil
	}
	return fmt.Errorf("its Content-Type is %.80q and has to be application/json", declared)
}

// malformed says that a document is not what the protocol has there.
func (s *NetworkMirrorSource) malformed(p Provider, doc *hosts.Document, err error) error {
	return s.advised(malformedError(kindMirror, p, doc, err), doc)
}

// advised adds what the answer tells about the mirror's URL to an error.
func (s *NetworkMirrorSource) advised(err error, doc *hosts.Document) error {
	if failed := FaultOf(err, ErrUnreachable); failed != nil {
		failed.Hint = s.advice(doc)
	}
	return err
}

// advice finds what may be wrong with the mirror's URL, judging by an answer
// that is of no use.
func (s *NetworkMirrorSource) advice(doc *hosts.Document) string {
	switch last := path.Base(s.base.Path); {
	case isRegistryError(doc.Body), strings.HasSuffix(s.base.Path, "/v1/providers/"):
		return notMirror
	case s.base.Path != "" && !strings.HasSuffix(s.base.Path, "/"):
		return fmt.Sprintf("the mirror's URL %s has no slash at its end, so that its last part, %q, is not in the URLs that are asked for: %s",
			s.baseURL(), last, hosts.RedactURL(doc.URL))
	default:
		return ""
	}
}

const notMirror = "it looks like a provider registry, which speaks another protocol than a network mirror: install directly from it, or name the URL of a mirror"

// isRegistryHost finds out whether the host that was given as a mirror's URL, without a path, offers
// service discovery. A mirror at a path isn't asked for that.
func (s *NetworkMirrorSource) isRegistryHost(ctx context.Context) bool {
	if s.files != nil || strings.Trim(s.base.Path, "/") != "" {
		return false
	}
	at := *s.base
	at.User, at.Path, at.RawPath = nil, "/.well-known/terraform.json", ""
	doc, err := hosts.GetDocument(ctx, s.client, hosts.DocumentRequest{URL: &at, MaxBytes: failureBytes})
	return err == nil && doc.StatusCode == http.StatusOK && json.Valid(doc.Body)
}

// failureBytes is more than a discovery document has.
const failureBytes = 64 << 10

// NetworkMirrorSource installs from a server that speaks the provider network
// mirror protocol: documents and archives below one URL, for providers of any
// origin. Make one with [NewNetworkMirrorSource], or with [NewStoredMirrorSource] where the same files lie elsewhere.
//
// Documents are asked for with the credentials of the mirror's own host and
// port, and no redirect takes those elsewhere. Archives are asked for without:
// the protocol says that signed URLs protect them.
//
// It trusts the mirror's hashes, if there are any, as far as to find out that
// an archive is the one that the mirror means; who made it, they don't tell. That
// takes the version's checksum list, its signature and the keys, which tfdeps'
// mirrors keep where the document about the version is ([layout.ChecksumsName]): if a key
// that counts has signed the list ([Signers]), an archive is authenticated by it, as if it
// came from the registry. The protocol knows nothing of these files, so they
// may be anything, or nothing: any failure to get the signature means that there
// are none. That request is made once for each version,
// and it isn't made where the lock file has such hashes already ([Trust].LocalTrust).
//
// Where this source differs from Terraform and OpenTofu: a version that the mirror
// lacks may come from another source, where they fail; they can't ask a mirror
// for providers whose host has a port; they accept no plain http, not even on
// a loopback address; they crash where a platform's archive is null; and they
// don't mind what follows a document, which is an error here.
//
// It asks for the versions of a provider once and remembers the answer for
// VersionsMaxAge, so that one run sees one state of the mirror.
type NetworkMirrorSource struct {
	client      *http.Client
	base        *url.URL
	host        hosts.Hostname
	credentials hosts.Credentials
	product     Product
	files       mirrorFiles // in place of a server; nil: there is one

	// Signers are whose signatures count for archives. Not to be changed after the first use.
	Signers Signers
	// TrustAllHashes takes what the mirror lists of the packages for all platforms for as good as
	// signed, so that it gets into lock files. Not to be changed after the first use.
	TrustAllHashes bool
	// VersionsMaxAge is how long a list of versions is remembered; 0: 15 minutes,
	// less than 0: for ever. Not to be changed after the first use.
	VersionsMaxAge time.Duration

	indexes   par.Aged[Provider, mirrorIndex]
	documents par.Aged[packageKey, *signedChecksums] // that belong to versions; keys and signatures expire
}

// baseURL is the mirror's base URL without secrets. That of a bucket may have the parameter endpoint, which says whose bucket it is.
func (s *NetworkMirrorSource) baseURL() string { return hosts.RedactURL(s.base, "endpoint") }

// mirrorFiles is where the files of a network mirror are that no web server has: the
// objects of a bucket, say. Paths have slashes between their names, and are those
// of the protocol: "registry.terraform.io/hashicorp/random/index.json". It is safe for many
// goroutines.
type mirrorFiles interface {
	// ReadFile returns the content of a file. The error matches fs.ErrNotExist if
	// there is none, and hosts.ErrTooLarge if it has more than limit bytes.
	ReadFile(ctx context.Context, path string, limit int64) ([]byte, error)
	// Archive returns a file that may be large; it isn't read here, and needn't exist.
	Archive(path string) Archive
	// String is the URL that all paths are below, without secrets: s3://bucket/mirror. It may have the parameter endpoint.
	String() string
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

// mirrorIndex is what a mirror says about the versions of a provider.
type mirrorIndex struct {
	versions []Version
	missing  error // it doesn't have the provider, and what may be wrong
}
