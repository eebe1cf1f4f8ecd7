package getproviders

import (
	"context"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders/par"
)

// Sizes of the documents that a package is judged by. A checksum line takes
// some 120 bytes for each platform, a signature under a kilobyte.
const (
	checksumsBytes = 1 << 20
	signatureBytes = 64 << 10
)

// registryTrust judges a package by the checksum list that its publisher
// signed.
type registryTrust struct {
	source   *RegistrySource
	provider Provider
	answer   *packageAnswer
}

// Load implements Trust: it asks for SHA256SUMS and its signature at the same
// time.
func (t *registryTrust) Load(ctx context.Context) (Authenticator, error) {
	judge := SignedChecksums{
		FileName:   t.answer.fileName,
		SHA256:     t.answer.sha256,
		PublicKeys: t.answer.keys,
		Keys:       t.source.signingKeys(),
		Now:        t.source.Now,
	}
	err := par.Together(ctx,
		func(ctx context.Context) (err error) {
			judge.Sums, err = t.source.document(ctx, t.provider, t.answer.sums, checksumsBytes)
			return err
		},
		func(ctx context.Context) (err error) {
			judge.Signature, err = t.source.document(ctx, t.provider, t.answer.signature, signatureBytes)
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	return judge, nil
}

// document asks for a document once, because the packages of a version for all
// platforms are judged by the same two.
func (s *RegistrySource) document(ctx context.Context, p Provider, at *url.URL, limit int64) ([]byte, error) {
	body, err := s.documents.Do(ctx, at.String(), func(ctx context.Context) ([]byte, error) {
		return s.fetch(ctx, p, at, limit)
	})
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	return body, nil
}

// Foretell implements Foreteller: the description of the package has it.
func (t *registryTrust) Foretell() (sum [32]byte, ok bool) { return t.answer.sha256, true }

func (s *RegistrySource) signingKeys() SigningKeys {
	if s.Keys != nil {
		return *s.Keys
	}
	return DefaultSigningKeys()
}
