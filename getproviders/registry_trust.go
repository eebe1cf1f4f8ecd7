package getproviders

import (
	"context"

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

// checksumDocuments are a version's list of checksums and the signature on it.
type checksumDocuments struct{ sums, signature []byte }

// Load implements Trust: it asks for SHA256SUMS and its signature at the same
// time, and once for the packages of all platforms, which are judged by the same.
func (t *registryTrust) Load(ctx context.Context) (Authenticator, error) {
	key := [2]string{t.answer.sums.String(), t.answer.signature.String()}
	documents, err := t.source.documents.Do(ctx, key, t.load)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	return t.Rejudge(SignedDocuments{Sums: documents.sums, Signature: documents.signature}), nil
}

// Rejudge implements Rejudger.
func (t *registryTrust) Rejudge(kept SignedDocuments) Authenticator {
	return SignedChecksums{
		FileName:   t.answer.fileName,
		SHA256:     t.answer.sha256,
		Sums:       kept.Sums,
		Signature:  kept.Signature,
		PublicKeys: t.answer.keys,
		Keys:       t.source.signingKeys(),
		Keyless:    t.provider.Hostname == t.source.Product.KeylessHost && t.provider.Hostname != "",
		Platform:   t.answer.platform,
		Told:       t.answer.told,
		Now:        t.source.Now,
	}
}

func (t *registryTrust) load(ctx context.Context) (documents checksumDocuments, err error) {
	err = par.Together(ctx,
		func(ctx context.Context) (err error) {
			documents.sums, err = t.source.fetch(ctx, t.provider, t.answer.sums, checksumsBytes)
			return err
		},
		func(ctx context.Context) (err error) {
			documents.signature, err = t.source.fetch(ctx, t.provider, t.answer.signature, signatureBytes)
			return err
		},
	)
	return documents, err
}

// Foretell implements Foreteller: the description of the package has it.
func (t *registryTrust) Foretell() (sum [32]byte, ok bool) { return t.answer.sha256, true }

func (s *RegistrySource) signingKeys() SigningKeys {
	if s.Keys != nil {
		return *s.Keys
	}
	if s.Product.Keys != nil {
		return *s.Product.Keys
	}
	return DefaultSigningKeys()
}
