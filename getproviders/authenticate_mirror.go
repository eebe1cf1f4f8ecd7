package getproviders

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Signers says whose signatures count on a checksum list that lies in a mirror.
// Unlike a registry, a mirror has no say in it: the keys that it keeps beside the
// list may be an attacker's. So those count that need no introduction by a registry:
//
//   - the official key, which signs what it signs for no one else,
//   - keys that bear the trust signature of the partner programme,
//   - keys that the user has named.
//
// All three are bound to the provider's type, the version and the platform by the
// archive's name in the list. A list that none of them has signed, or that isn't
// whole, is as good as none: who could forge it could leave it out as well, so
// there is nothing to be gained by an error. What one of these keys is said to
// have signed has to be true: a signature that doesn't fit its list, a list that
// doesn't have the archive, or has another checksum for it, are errors, and the
// same as those of a registry.
//
// The zero value has the embedded keys.
type Signers struct {
	Keys    *SigningKeys     // nil: the embedded ones
	Trusted []TrustedKey     // that the user has named
	Now     func() time.Time // for keys that expire; nil: time.Now
}

// TrustedKey is a public key that its user knows to be a publisher's. What it
// has signed is LevelCommunity.
type TrustedKey struct {
	Armored   string    // ASCII-armored
	Providers []Pattern // that it may sign; nil: all
}

// Check returns an error if the key can't be read.
func (k TrustedKey) Check() error {
	_, err := readKey(k.Armored)
	return err
}

// verify finds out what the signature on documents proves. ok is false if that
// is nothing.
func (s Signers) verify(p Provider, d SignedDocuments) (result AuthenticationResult, ok bool, err error) {
	signed := SignedChecksums{Sums: d.Sums, Signature: d.Signature, Keys: s.signingKeys(), Now: s.Now}
	signed.PublicKeys = s.candidates(p, d.Keys, signed)
	result, err = signed.checkSignature()
	if _, unknown := errors.AsType[*UnknownIssuerError](err); unknown {
		return AuthenticationResult{}, false, nil
	}
	return result, err == nil, err
}

func (s Signers) signingKeys() SigningKeys {
	if s.Keys != nil {
		return *s.Keys
	}
	return DefaultSigningKeys()
}

// candidates are the keys whose signatures count, with what makes some of them
// count more. Those that can't be read don't.
func (s Signers) candidates(p Provider, found []PublicKey, signed SignedChecksums) (keys []PublicKey) {
	add := func(key PublicKey) {
		if _, err := readKey(key.Armored); err == nil {
			keys = append(keys, key)
		}
	}
	add(PublicKey{Armored: signed.Keys.Official})
	for _, key := range found[:min(len(found), maxPGPKeys)] {
		if signed.isPartner(key) {
			add(key)
		}
	}
	for _, key := range s.Trusted {
		if _, ok := matching(key.Providers, p); ok || key.Providers == nil {
			add(PublicKey{Armored: key.Armored})
		}
	}
	return keys
}

// needsKeys reports whether a signature may be by a key that only the mirror has.
func (s Signers) needsKeys(signature []byte) bool {
	official, err := readKey(s.signingKeys().Official)
	return s.signingKeys().Partner != "" && (err != nil || !slices.Contains(official.primary, issuerOf(signature)))
}

// mirrorTrust is what an archive of a mirror is authenticated by: what documents
// finds, which is nil if that is nothing, else the hashes that the mirror lists.
func mirrorTrust(fileName string, listed AnyHash, documents func(ctx context.Context) (*verifiedChecksums, error)) Trust {
	trust := listed.Trust()
	unsigned := trust
	trust.Load = func(ctx context.Context) (Trust, error) {
		verified, err := documents(ctx)
		if err != nil {
			return Trust{}, err
		}
		if verified == nil {
			return unsigned, nil
		}
		return mirroredChecksums{verified, fileName}.trust(listed), nil
	}
	return trust
}

// verifiedChecksums is a checksum list that was signed by a key that counts.
type verifiedChecksums struct {
	SignedDocuments
	list   checksumList
	result AuthenticationResult // but for the hashes
}

// verified verifies documents of the mirror that is named.
func (s Signers) verified(p Provider, mirror string, d SignedDocuments) (*verifiedChecksums, error) {
	result, ok, err := s.verify(p, d)
	if err != nil {
		return nil, fmt.Errorf("what lies beside the package in %s: %w", mirror, err)
	}
	if !ok {
		return nil, nil
	}
	return &verifiedChecksums{SignedDocuments: d, list: parseChecksums(d.Sums), result: result}, nil
}

// mirroredChecksums authenticates by a list that counts, and not by what the mirror
// itself lists for the archive: that may be the hash of other bytes only if the
// archive is, too.
type mirroredChecksums struct {
	*verifiedChecksums
	fileName string // of the archive in SHA256SUMS
}

// Authenticate implements Authenticator. Errors are *ChecksumListError and
// *ChecksumError.
func (m mirroredChecksums) Authenticate(d Digests) (AuthenticationResult, error) {
	expected, err := m.expected(d)
	if err != nil {
		return AuthenticationResult{}, err
	}
	if _, err := (AnyHash{expected}).Authenticate(Digests{SHA256: d.SHA256}); err != nil {
		return AuthenticationResult{}, err
	}
	result := m.result
	if result.Signed = m.list.hashes(); result.Signed == nil {
		result.Signed = []Hash{expected}
	}
	return result, nil
}

// expected is the checksum that the list has for the archive.
func (m mirroredChecksums) expected(d Digests) (Hash, error) {
	found := ""
	for _, line := range m.list {
		if line.name != m.fileName {
			continue
		}
		if zh, ok := line.zh(); ok {
			return zh, nil
		}
		found = line.hash
		break
	}
	return "", &ChecksumListError{FileName: m.fileName, Expected: ZH(d.SHA256), Found: found, Mirror: true}
}

// trust adds what the mirror lists, but for checksums of the archive: of those the
// one that is signed counts.
func (m mirroredChecksums) trust(listed AnyHash) Trust {
	trust := Trust{Authenticator: m, Documents: &m.SignedDocuments}
	trust.ListedHashes = slices.DeleteFunc(listed.supported(), func(h Hash) bool { return h.Scheme() == SchemeZH })
	if zh, err := m.expected(Digests{}); err == nil {
		trust.ListedHashes = append(trust.ListedHashes, zh)
		trust.ExpectedSHA256, _ = zh.sha256()
	}
	return trust
}
