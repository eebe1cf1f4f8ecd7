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

// checksumDocuments are a version's list of checksums and the signature on it.
type checksumDocuments struct{ sums, signature []byte }

// trust is what a package is authenticated by: the checksum list that its
// publisher signed. Load asks for list and signature at the same time, and once for
// the packages of all platforms, which have the same.
func (s *RegistrySource) trust(p Provider, answer *packageAnswer) Trust {
	trust := Trust{
		ExpectedSHA256: answer.sha256,
		Recheck:        func(kept SignedDocuments) Trust { return s.signedChecksums(p, answer, kept).Trust() },
	}
	trust.Load = func(ctx context.Context) (Trust, error) {
		key := [2]string{answer.sums.String(), answer.signature.String()}
		documents, err := s.documents.Do(ctx, key, func(ctx context.Context) (checksumDocuments, error) {
			return s.fetchDocuments(ctx, p, answer)
		})
		if err != nil {
			return Trust{}, causeOr(ctx, err)
		}
		return trust.Recheck(SignedDocuments{Sums: documents.sums, Signature: documents.signature}), nil
	}
	return trust
}

func (s *RegistrySource) signedChecksums(p Provider, answer *packageAnswer, documents SignedDocuments) SignedChecksums {
	return SignedChecksums{
		FileName:      answer.fileName,
		SHA256:        answer.sha256,
		Sums:          documents.Sums,
		Signature:     documents.Signature,
		PublicKeys:    answer.keys,
		Keys:          s.signingKeys(),
		Keyless:       p.Hostname == s.Product.KeylessHost && p.Hostname != "",
		Platform:      answer.platform,
		PackageHashes: answer.packageHashes,
		Now:           s.Now,
	}
}

func (s *RegistrySource) fetchDocuments(ctx context.Context, p Provider, answer *packageAnswer) (documents checksumDocuments, err error) {
	err = par.Together(ctx,
		func(ctx context.Context) (err error) {
			documents.sums, err = s.fetch(ctx, p, answer.sums, checksumsBytes)
			return err
		},
		func(ctx context.Context) (err error) {
			documents.signature, err = s.fetch(ctx, p, answer.signature, signatureBytes)
			return err
		},
	)
	return documents, err
}

func (s *RegistrySource) signingKeys() SigningKeys {
	if s.Keys != nil {
		return *s.Keys
	}
	if s.Product.Keys != nil {
		return *s.Product.Keys
	}
	return DefaultSigningKeys()
}
