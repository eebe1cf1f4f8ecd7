package getproviders

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// ask sends a request to the API of a provider's registry and returns its
// answer, which is 200 or 404.
//
// The path is resolved against the service's URL as a reference: a base URL
// without a slash at its end loses its last segment, as the real tools have it.
//
// The credentials that go along are those of the provider's host, wherever its
// service is.
func (s *RegistrySource) ask(ctx context.Context, p Provider, base *url.URL, segments ...string) (*hosts.Document, error) {
	req := hosts.DocumentRequest{
		URL:          base.ResolveReference(&url.URL{Path: strings.Join(segments, "/")}),
		Header:       versionHeader(s.Product),
		MaxRedirects: registryRedirects,
		MaxBytes:     registryAnswerBytes,
	}
	if err := hosts.Authorize(ctx, s.Credentials, p.Hostname, req.URL, req.Header); err != nil {
		return nil, queryError(ctx, kindRegistry, p, err)
	}
	doc, err := hosts.GetDocument(ctx, s.Client, req)
	if err != nil {
		return nil, queryError(ctx, kindRegistry, p, err)
	}
	if doc.StatusCode != http.StatusOK && doc.StatusCode != http.StatusNotFound {
		return nil, statusError(kindRegistry, p, p.Hostname, req, doc)
	}
	return doc, nil
}

// fetch gets a document that a registry named by its URL. It may be on
// anybody's host, which is told nothing about us: no version, no credentials.
func (s *RegistrySource) fetch(ctx context.Context, p Provider, u *url.URL, maxBytes int64) ([]byte, error) {
	req := hosts.DocumentRequest{URL: u, MaxRedirects: registryRedirects, MaxBytes: maxBytes}
	doc, err := hosts.GetDocument(ctx, s.Client, req)
	if err != nil {
		return nil, queryError(ctx, kindRegistry, p, err)
	}
	if doc.StatusCode != http.StatusOK {
		return nil, statusError(kindRegistry, p, "", req, doc)
	}
	return doc.Body, nil
}
