package getproviders

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Versions implements Source. Errors match ErrProviderNotFound,
// ErrUnauthorized or ErrUnreachable.
func (s *RegistrySource) Versions(ctx context.Context, p Provider) (Available, error) {
	list, err := s.list(ctx, p)
	return Available{Versions: slices.Clone(list.Versions), Warnings: slices.Clone(list.Warnings), Details: list.Details}, err
}

// Package implements Source. Errors are those of Versions, and match ErrVersionNotFound,
// ErrProtocol or ErrPlatformMissing, too, with hints from the list of versions. The documents that
// authenticate the package are requested when the Trust is loaded.
func (s *RegistrySource) Package(ctx context.Context, p Provider, v Version, plat Platform) (Package, error) {
	if err := validate(p, v, plat); err != nil {
		return Package{}, err
	}
	doc, base, err := s.ask(ctx, p, p.Namespace, p.Type, v.String(), "download", plat.OS, plat.Arch)
	if err != nil {
		return Package{}, err
	}
	if doc.StatusCode == http.StatusNotFound {
		return Package{}, s.missing(ctx, p, v, plat)
	}
	wire, err := decodeObject[wirePackage](doc.Body)
	if err != nil {
		return Package{}, malformedError(kindRegistry, p, doc, err)
	}
	if ok, err := speaks(wire.Protocols); err != nil {
		return Package{}, malformedError(kindRegistry, p, doc, err)
	} else if !ok && len(wire.Protocols) > 0 {
		return Package{}, s.incompatible(ctx, p, v, wire.Protocols)
	}
	answer, err := wire.read(plat, doc.URL)
	if err == nil {
		err = checkArchiveName(answer.said.FileName, p, v, plat)
	}
	if err != nil {
		return Package{}, malformedError(kindRegistry, p, doc, err)
	}
	return Package{
		Provider:    p,
		Version:     v,
		Platform:    plat,
		Location:    describedArchive(answer.archive, doc.URL, base, p.Hostname),
		Source:      registryName(p),
		ShortSource: p.Hostname.String(),
		SourceURL:   hosts.RedactURL(base), FromRegistry: true,
		Protocols: wire.Protocols,
		Trust:     s.trust(p, answer),
	}, nil
}

// Describe implements Source. Platforms are those of the list of versions. The SourceURL is the
// base URL of the provider's registry, which unlike the registry's name changes when the service
// moves or the user redirects it. Suggest answers for addresses that a configuration implies by
// naming none: on the product's default host, in the namespace "hashicorp". The registry there
// knows under which namespace a type was published.
func (s *RegistrySource) Describe(p Provider) Description {
	return Description{
		Name: registryName(p), SourceURL: s.sourceURL, Platforms: s.platforms, Suggest: s.suggest, ExplainMissing: s.explainMissing, Owns: s.ownsURL,
	}
}

func (s *RegistrySource) platforms(ctx context.Context, p Provider, v Version) ([]Platform, error) {
	list, err := s.list(ctx, p)
	if err != nil {
		return nil, err
	}
	if listed, ok := list.Details[v]; ok {
		return slices.Clone(listed.Platforms), nil
	}
	return nil, s.missing(ctx, p, v, CurrentPlatform())
}

func (s *RegistrySource) sourceURL(ctx context.Context, p Provider, v Version, plat Platform) (string, error) {
	list, err := s.list(ctx, p)
	if err != nil {
		return "", err
	}
	if listed, ok := list.Details[v]; !ok || len(listed.Platforms) > 0 && !slices.Contains(listed.Platforms, plat) {
		return "", s.missing(ctx, p, v, plat)
	}
	base, err := s.service(ctx, p)
	return hosts.RedactURL(base), err
}

// fetch gets a document at a URL that a registry named. Any host may have it, so the request has no
// product version and no credentials.
func (s *RegistrySource) fetch(ctx context.Context, p Provider, u *url.URL, maxBytes int64) ([]byte, error) {
	req := hosts.DocumentRequest{URL: u, MaxRedirects: hosts.UsualRedirects, MaxBytes: maxBytes}
	doc, err := hosts.GetDocument(ctx, s.Client, req)
	if err != nil {
		return nil, queryError(ctx, kindRegistry, p, err)
	}
	if doc.StatusCode != http.StatusOK {
		return nil, statusError(kindRegistry, p, "", req, doc)
	}
	return doc.Body, nil
}

// trust returns the Trust by the checksum list that the publisher signed. Load requests list and
// signature at the same time, and once for the packages of all platforms, which share them.
func (s *RegistrySource) trust(p Provider, answer *packageAnswer) Trust {
	trust := Trust{
		ExpectedSHA256: answer.said.SHA256,
		Recheck:        func(kept SignedDocuments) Trust { return s.signedChecksums(p, answer, kept).trust() },
	}
	trust.Load = func(ctx context.Context) (Trust, error) {
		key := [2]string{answer.sums.String(), answer.signature.String()}
		documents, err := s.documents.Do(ctx, key, time.Now, 0, func(ctx context.Context) (SignedDocuments, error) {
			return s.fetchDocuments(ctx, p, answer)
		})
		if err != nil {
			return Trust{}, err
		}
		return trust.Recheck(documents), nil
	}
	return trust
}

func (s *RegistrySource) signedChecksums(p Provider, answer *packageAnswer, documents SignedDocuments) signedChecksums {
	signed := answer.said
	signed.Sums, signed.Signature, signed.sumsURL = documents.Sums, documents.Signature, hosts.RedactURL(answer.sums)
	signed.Keyless = p.Hostname == openTofuHost && p.Hostname == s.Product.DefaultHost && !s.Product.NeedsKeys
	signed.Expiry = s.Product.expiry()
	if s.Product.Predecessor == nil { // OpenTofu has no such keys
		signed.Keys = defaultSigningKeys()
	}
	return signed
}

func (s *RegistrySource) fetchDocuments(ctx context.Context, p Provider, answer *packageAnswer) (documents SignedDocuments, err error) {
	err = par.Together(ctx,
		func(ctx context.Context) (err error) {
			documents.Sums, err = s.fetch(ctx, p, answer.sums, checksumsBytes)
			return err
		},
		func(ctx context.Context) (err error) {
			documents.Signature, err = s.fetch(ctx, p, answer.signature, signatureBytes)
			return err
		},
	)
	return documents, withoutDocument(err)
}

// withoutDocument adds a hint to a 404 for the checksum list or signature that a registry names.
func withoutDocument(err error) error {
	query, ok := err.(*Fault)
	status, answered := errors.AsType[*hosts.StatusError](err)
	if !ok || !answered || status.StatusCode != http.StatusNotFound || query.Hint != "" {
		return err
	}
	advised := *query
	advised.Hint = "the registry lists the package, but its signed checksums aren't there: tell the provider's publisher"
	return &advised
}

// ownsURL reports whether a SourceURL belongs to this source, without a request: the user's
// configuration names the host's service, or the URL is on the provider's host.
func (s *RegistrySource) ownsURL(ctx context.Context, p Provider, sourceURL string) bool {
	if _, forced := s.discovery().Forced[p.Hostname]; forced {
		base, err := s.service(ctx, p)
		return err == nil && hosts.RedactURL(base) == sourceURL
	}
	u, err := url.Parse(sourceURL)
	if err != nil || u.Scheme != "https" {
		return false
	}
	host, err := hosts.HostnameOf(u)
	return err == nil && host == p.Hostname
}
