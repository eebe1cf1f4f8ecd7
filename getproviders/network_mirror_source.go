package getproviders

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/layout"
)

// NewNetworkMirrorSource returns the source at a base URL, which must be https, or http on a loopback
// address. It should end with a slash: the paths of documents are resolved against it as references, which
// replace the last segment of a URL without one. User and password in the URL are sent to the mirror's
// origin as basic authentication, unless credentials has a token.
//
// The product's version is sent to the mirror. Credentials may be nil; a nil client means one that this module shares,
// which tries a failed request once more. Errors don't repeat the URL, which may hold a password.
func NewNetworkMirrorSource(base string, client *http.Client, credentials hosts.Credentials, product Product) (*NetworkMirrorSource, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, errors.New("the URL of a network mirror has to be absolute, with scheme and host: https://example.com/providers/")
	}
	if !hosts.Confidential(u) {
		return nil, fmt.Errorf("the URL of a network mirror has to have the scheme https, not %q", u.Scheme)
	}
	host, err := hosts.HostnameOf(u)
	if err != nil {
		return nil, fmt.Errorf("the URL of a network mirror can't be used: %w", err)
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return &NetworkMirrorSource{client: client, base: u, host: host, credentials: credentials, product: product}, nil
}

// Versions implements Source. Errors match ErrProviderNotFound,
// ErrUnauthorized or ErrUnreachable.
func (s *NetworkMirrorSource) Versions(ctx context.Context, p Provider) (Available, error) {
	versions, err := s.versions(ctx, p)
	return Available{Versions: slices.Clone(versions)}, err
}

// Package implements Source. Errors are those of Versions, and match ErrVersionNotFound or
// ErrPlatformMissing, too.
func (s *NetworkMirrorSource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	if err := validate(p, v, plat); err != nil {
		return Package{}, err
	}
	doc, archives, err := s.version(ctx, p, v)
	if err != nil {
		return Package{}, err
	}
	archive := archives[plat.String()]
	if archive == nil {
		return Package{}, Subject{Provider: p, Version: v, Platform: plat, Source: s.name(), Platforms: archivePlatforms(archives)}.Missing()
	}
	at, listed, err := archive.read(doc.URL)
	var location Location
	if err == nil {
		location, err = s.locate(at, doc.URL)
	}
	if err != nil {
		return Package{}, s.malformed(p, doc, fmt.Errorf("archives.%s: %w", plat, err))
	}
	pkg := Package{
		Provider:    p,
		Version:     v,
		Platform:    plat,
		Location:    location,
		Source:      s.name(),
		SourceURL:   s.packageSourceURL(p),
		ShortSource: s.baseURL(),
		Trust:       s.listedTrust(p, listed, doc.URL, archives),
	}
	pkg.Trust = pkg.trustIn(func(ctx context.Context) (*signedChecksums, error) {
		return s.documents.Do(ctx, packageKey{p, v, Platform{}}, time.Now, 0, func(ctx context.Context) (*signedChecksums, error) {
			return s.Signers.verifyDocuments(ctx, p, v, s.name(), func(ctx context.Context, name string, max int64) ([]byte, error) { return s.askFile(ctx, p, name, max) })
		})
	})
	pkg.Trust.LocalTrust = true
	return pkg, nil
}

// listedTrust returns the Trust by the hashes that the mirror lists: with TrustAllHashes those of all archives count as signed.
// OpenTofu records the archive's checksum even without it.
func (s *NetworkMirrorSource) listedTrust(p Provider, own AnyHash, base *url.URL, archives map[string]*wireArchive) Trust {
	trust := own.trust()
	all := s.trustsAll(p)
	switch {
	case trust.Authenticator == nil, !all && s.product.Predecessor == nil:
		return trust
	case !all:
		return own.Recorded()
	}
	signed := listedAsSigned{own: own}
	for _, name := range slices.Sorted(maps.Keys(archives)) {
		if archives[name] == nil {
			continue
		}
		if _, listed, err := archives[name].read(base); err == nil { // errors in other platforms' entries don't matter
			signed.all = append(signed.all, listed.supported()...)
		}
	}
	trust.Authenticator = signed
	return trust
}

// trustsAll reports whether TrustAllHashes counts for a provider. In OpenTofu it takes the place of what its own registry
// says, which needs no signature there, and so it counts for that registry's providers only.
func (s *NetworkMirrorSource) trustsAll(p Provider) bool {
	isOwn := p.Hostname == s.product.DefaultHost && !s.product.NeedsKeys
	return s.TrustAllHashes && (s.product.Predecessor == nil || isOwn)
}

// trustsAllMark is the fragment of a SourceURL if all listed hashes were trusted. A package that was fetched without that
// setting isn't one that would be fetched now: its receipt has other hashes for the lock file.
const trustsAllMark = "#trust_all_hashes"

// packageSourceURL returns the SourceURL of a provider's packages.
func (s *NetworkMirrorSource) packageSourceURL(p Provider) string {
	if s.trustsAll(p) {
		return s.baseURL() + trustsAllMark
	}
	return s.baseURL()
}

// Describe implements Source. Platforms are those of the document about the version. The SourceURL
// is the mirror's base URL, with a fragment if all listed hashes are trusted.
func (s *NetworkMirrorSource) Describe(Provider) Description {
	return Description{Name: s.name(), SourceURL: s.sourceURL, Platforms: s.platforms, Owns: s.ownsURL}
}

func (s *NetworkMirrorSource) name() string { return "provider mirror at " + s.baseURL() }

// missing returns the error for a version without a document.
func (s *NetworkMirrorSource) missing(ctx context.Context, p Provider, v Version) error {
	versions, err := s.versions(ctx, p)
	return Available{Versions: versions}.missing(ctx, err, Subject{Source: s.name(), Provider: p, Version: v})
}

// versions asks for a provider's versions once. It also caches the answer that the provider doesn't exist.
func (s *NetworkMirrorSource) versions(ctx context.Context, p Provider) ([]Version, error) {
	index, err := s.indexes.Do(ctx, p, time.Now, s.VersionsMaxAge, func(ctx context.Context) (mirrorIndex, error) {
		doc, err := s.ask(ctx, p, "index.json")
		if err != nil {
			return mirrorIndex{}, err
		}
		if doc.StatusCode == http.StatusNotFound {
			missing := Subject{Source: s.name(), Provider: p}.Missing()
			switch missing.Hint = s.advice(doc); {
			case missing.Hint != "":
			case s.isRegistryHost(ctx):
				missing.Hint = notMirror
			case strings.IndexAny(string(doc.Body), "4{") != 0: // neither Go's "404 page not found" nor JSON, which say nothing new
				missing.Hint = strings.TrimPrefix(doc.Said, "; ")
			}
			return mirrorIndex{missing: missing}, nil
		}
		versions, err := decodeMirrorIndex(doc.Body)
		if err != nil {
			return mirrorIndex{}, s.malformed(p, doc, err)
		}
		return mirrorIndex{versions: versions}, nil
	})
	if err == nil && index.missing != nil {
		err = causeOr(ctx, index.missing)
	}
	return index.versions, err
}

// version gets and decodes the document about a version.
func (s *NetworkMirrorSource) version(ctx context.Context, p Provider, v Version) (doc *hosts.Document, archives map[string]*wireArchive, err error) {
	if doc, err = s.ask(ctx, p, v.String()+".json"); err != nil {
		return nil, nil, err
	}
	if doc.StatusCode == http.StatusNotFound {
		return nil, nil, s.missing(ctx, p, v)
	}
	if archives, err = decodeMirrorVersion(doc.Body); err != nil {
		return nil, nil, s.malformed(p, doc, err)
	}
	return doc, archives, nil
}

func (s *NetworkMirrorSource) platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	_, archives, err := s.version(ctx, p, v)
	if err != nil {
		return nil, err
	}
	return archivePlatforms(archives), nil
}

func (s *NetworkMirrorSource) sourceURL(ctx context.Context, p Provider, v Version, _ Platform) (string, error) {
	versions, err := s.versions(ctx, p)
	if err != nil {
		return "", err
	}
	if !slices.Contains(versions, v) {
		return "", s.missing(ctx, p, v)
	}
	return s.packageSourceURL(p), nil
}

// askFile gets a file, or nil if the mirror doesn't have it. Other mirrors may answer a request for
// a signature with anything, which must not keep a user from installing: every such failure means
// that the mirror has no signature. After a signature, failures of the other files are errors, so
// that results don't vary by chance.
func (s *NetworkMirrorSource) askFile(ctx context.Context, p Provider, name string, max int64) ([]byte, error) {
	req, err := s.request(ctx, p, name, max)
	if err != nil {
		return nil, err
	}
	doc, err := s.get(ctx, req)
	switch {
	case err != nil && (errors.Is(err, hosts.ErrTooLarge) || strings.HasSuffix(name, layout.SignatureSuffix) && ctx.Err() == nil):
		return nil, nil
	case err != nil:
		return nil, queryError(ctx, kindMirror, p, err)
	case doc.StatusCode != http.StatusOK:
		return nil, nil
	}
	return doc.Body, nil
}

// NewStoredMirrorSource returns the source of a network mirror whose files aren't on a web server. Relative URLs of
// archives are below the URL of the files; absolute URLs of http and https are possible, too. The error says that the URL
// of the files is invalid. It is for package mirror, whose Source reads a bucket.
func NewStoredMirrorSource(files mirrorFiles) (*NetworkMirrorSource, error) {
	base, err := url.Parse(files.String())
	if err != nil || base.Scheme == "" || base.Host == "" {
		return nil, fmt.Errorf("the files of a mirror need a URL with scheme and host, and not %q", files)
	}
	base.Path, base.RawPath = strings.TrimSuffix(base.Path, "/")+"/", ""
	return &NetworkMirrorSource{base: base, files: files}, nil
}

// ownsURL reports whether a SourceURL belongs to this mirror.
func (s *NetworkMirrorSource) ownsURL(_ context.Context, _ Provider, sourceURL string) bool {
	return s.baseURL() == strings.TrimSuffix(sourceURL, trustsAllMark)
}
