package getproviders

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

const (
	// mirrorAnswerBytes is how large an answer of a mirror may be.
	mirrorAnswerBytes = 16 << 20

	// mirrorRedirects is how many redirects are followed, as in the real tools.
	mirrorRedirects = 5
)

// NetworkMirrorSource installs from a server that speaks the provider network
// mirror protocol: documents and archives below one URL, for providers of any
// origin. Make one with [NewNetworkMirrorSource].
//
// Documents are asked for with the credentials of the mirror's own host and
// port. Archives never are, wherever they lie: the protocol says that signed
// URLs protect them.
//
// It asks for everything anew each time; [Memoize] remembers answers.
type NetworkMirrorSource struct {
	client      *http.Client
	base        *url.URL
	host        hosts.Hostname
	credentials hosts.Credentials
	engine      Engine
}

// NewNetworkMirrorSource returns the source below a base URL, which has to be
// https, or http on a loopback address (the real tools refuse that, too).
// Paths are resolved against it as references are, so it should end with a
// slash: without one its last segment is replaced.
func NewNetworkMirrorSource(base string, client *http.Client, credentials hosts.Credentials, engine Engine) (*NetworkMirrorSource, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, errors.New("the URL of a network mirror has to be absolute, with scheme and host: https://example.com/providers/")
	}
	if u.User != nil {
		return nil, errors.New("the URL of a network mirror can't hold a user or password; use a credentials block for its host")
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil, fmt.Errorf("the URL of a network mirror has to have the scheme https, not %q", u.Scheme)
	}
	host, err := hosts.ParseHostname(u.Host)
	if err != nil {
		return nil, fmt.Errorf("the URL of a network mirror names an invalid host: %w", err)
	}
	return &NetworkMirrorSource{client: client, base: u, host: host, credentials: credentials, engine: engine}, nil
}

// isLoopback reports whether no other machine can listen to what is said to
// this host.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Versions implements Source. Errors are *ProviderNotFoundError,
// *UnauthorizedError or *QueryError.
func (s *NetworkMirrorSource) Versions(ctx context.Context, p Provider) (Available, error) {
	doc, err := s.ask(ctx, p, "index.json")
	if err != nil {
		return Available{}, err
	}
	if doc.StatusCode == http.StatusNotFound {
		return Available{}, &ProviderNotFoundError{Provider: p, Source: s.Describe(p)}
	}
	versions, err := decodeMirrorIndex(doc.Body)
	if err != nil {
		return Available{}, malformedError(kindMirror, p, doc, err)
	}
	return Available{Versions: versions}, nil
}

// Package implements Source. A version document that doesn't exist is a
// *VersionNotFoundError, so that another source may have the version; to the
// real tools it is a failure.
func (s *NetworkMirrorSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	doc, err := s.ask(ctx, p, v.String()+".json")
	if err != nil {
		return Package{}, err
	}
	if doc.StatusCode == http.StatusNotFound {
		return Package{}, &VersionNotFoundError{Provider: p, Version: v, Source: s.Describe(p)}
	}
	archives, err := decodeMirrorVersion(doc.Body)
	if err != nil {
		return Package{}, malformedError(kindMirror, p, doc, err)
	}
	archive, ok := archives[plat.String()]
	if !ok || archive == nil {
		return Package{}, &PlatformMissingError{
			Provider: p, Version: v, Platform: plat, Source: s.Describe(p), Platforms: archivePlatforms(archives),
		}
	}
	location, trust, err := archive.read(doc.URL)
	if err != nil {
		return Package{}, malformedError(kindMirror, p, doc, fmt.Errorf("archives.%s: %w", plat, err))
	}
	return Package{Provider: p, Version: v, Platform: plat, Location: HTTPArchive{URL: location}, Trust: trust}, nil
}

// Describe implements Source.
func (s *NetworkMirrorSource) Describe(Provider) string {
	return "provider mirror at " + hosts.RedactURL(s.base)
}

// ask gets one of a provider's documents, which is there or answers 404.
func (s *NetworkMirrorSource) ask(ctx context.Context, p Provider, name string) (*hosts.Document, error) {
	header := http.Header{"X-Terraform-Version": {s.engine.Version}}
	if err := hosts.Authorize(ctx, s.credentials, s.host, header); err != nil {
		return nil, queryError(ctx, kindMirror, p, err)
	}
	// A path and no text, because the port of a provider's host would make
	// a text look like a URL with a scheme.
	path := strings.Join([]string{p.Hostname.ASCII(), p.Namespace, p.Type, name}, "/")
	doc, err := hosts.GetDocument(ctx, s.client, hosts.DocumentRequest{
		URL:          s.base.ResolveReference(&url.URL{Path: path}),
		Header:       header,
		MaxRedirects: mirrorRedirects,
		MaxBytes:     mirrorAnswerBytes,
	})
	switch {
	case err != nil:
		return nil, queryError(ctx, kindMirror, p, err)
	case doc.StatusCode == http.StatusNotFound:
		return doc, nil
	case doc.StatusCode != http.StatusOK:
		return nil, statusError(kindMirror, p, s.host, doc)
	}
	return doc, s.checkMediaType(p, doc)
}

// checkMediaType refuses what isn't declared to be JSON: it tends to be the
// login page of a gateway.
func (s *NetworkMirrorSource) checkMediaType(p Provider, doc *hosts.Document) error {
	declared := doc.Header.Get("Content-Type")
	if mediaType, _, err := mime.ParseMediaType(declared); err == nil && mediaType == "application/json" {
		return nil
	}
	return malformedError(kindMirror, p, doc, fmt.Errorf("its Content-Type is %q and has to be application/json", declared))
}
