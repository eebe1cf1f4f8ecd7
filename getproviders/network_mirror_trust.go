package getproviders

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// versionKey names a version of a provider.
type versionKey struct {
	provider Provider
	version  Version
}

// trust is what an archive is authenticated by.
func (s *NetworkMirrorSource) trust(p Provider, v Version, plat Platform, listed AnyHash) Trust {
	trust := mirrorTrust(PackedName(p, v, plat), listed, func(ctx context.Context) (*verifiedChecksums, error) {
		verified, err := s.documents.Do(ctx, versionKey{p, v}, func(ctx context.Context) (*verifiedChecksums, error) {
			return s.askDocuments(ctx, p, v)
		})
		if err != nil {
			return nil, causeOr(ctx, err)
		}
		return verified, nil
	})
	trust.LocalTrust = true
	return trust
}

// askDocuments asks for what is signed about a version; nil if that is nothing.
func (s *NetworkMirrorSource) askDocuments(ctx context.Context, p Provider, v Version) (*verifiedChecksums, error) {
	read := func(name string, max int64) ([]byte, error) { return s.askFile(ctx, p, name, max) }
	d, ok, err := readDocuments(p, v, read, s.Signers.needsKeys)
	if err != nil || !ok {
		return nil, err
	}
	return s.Signers.verified(p, s.Describe(p), d)
}

// askFile gets a file that may not be there; then it is nil. Other people's
// mirrors may do anything when they are asked for a signature, which must not
// keep anybody from installing: whatever that is, there is none. Where there is
// one, the rest has to be had, so that nobody gets another result by chance.
func (s *NetworkMirrorSource) askFile(ctx context.Context, p Provider, name string, max int64) ([]byte, error) {
	req, err := s.request(ctx, p, name, max)
	if err != nil {
		return nil, err
	}
	doc, err := hosts.GetDocument(ctx, s.client, req)
	_, tooLarge := errors.AsType[*hosts.TooLargeError](err)
	switch {
	case err != nil && (tooLarge || strings.HasSuffix(name, signatureSuffix) && ctx.Err() == nil):
		return nil, nil
	case err != nil:
		return nil, queryError(ctx, kindMirror, p, err)
	case doc.StatusCode != http.StatusOK:
		return nil, nil
	}
	return doc.Body, nil
}
