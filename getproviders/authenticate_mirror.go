package getproviders

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hashing"
)

// Signers says whose signatures count on a checksum list in a mirror. A mirror can't introduce keys
// as a registry does: the keys that it keeps beside the list may be an attacker's. So these keys
// count:
//
//   - the official key, which signs only its owner's packages,
//   - keys that the user has given in full,
//   - keys that the user has named by their ID, if they have the trust signature of the
//     partner programme.
//
// The trust signature says that the key belongs to a partner. It doesn't say which namespaces are
// the partner's: only the origin registry knows that, and a mirror's copy of it isn't signed. So a
// partner's key counts only for the providers that the user names for it. Otherwise any partner
// could sign any other partner's packages.
//
// The archive's name in the list binds its checksum to the provider's type, the version and the
// platform. A list that none of these keys has signed, or that is incomplete, is ignored and is no
// error: an attacker who could forge it could remove it as well. If a list names one of these keys
// as its signer, these are errors, the same as a registry's: a signature that doesn't fit the list,
// and a list that lacks the archive or has another checksum for it.
//
// The zero value uses the embedded keys.
type Signers struct {
	keys    *signingKeys // nil means the embedded ones
	Trusted []TrustedKey // the keys that the user has named
}

// TrustedKey is a publisher's public key that the user trusts, given in full or by its ID. A
// signature by it is LevelCommunity; with PartnerID, LevelPartner.
type TrustedKey struct {
	Armored string // ASCII-armored
	// PartnerID is the last 16 digits of the key's fingerprint; Armored is empty then. The key is
	// in the mirror, and must have the trust signature of the partner programme.
	PartnerID string
	Providers []Pattern // the providers that it may sign; nil means all, or none if PartnerID is set
}

// Check returns an error if the key can't be read, or if its fields contradict each other.
func (k TrustedKey) Check() error {
	if k.PartnerID == "" {
		_, err := readKey(k.Armored)
		return err
	}
	switch id, err := hex.DecodeString(k.PartnerID); {
	case err != nil || len(id) != 8:
		return fmt.Errorf("%.80q isn't the ID of a key: that has 16 hex digits", k.PartnerID)
	case k.Armored != "":
		return fmt.Errorf("the key %s is given both by its ID and in full", k.PartnerID)
	case len(k.Providers) == 0:
		return fmt.Errorf("the key %s is given by its ID, without the providers that it may sign", k.PartnerID)
	}
	return nil
}

// signs reports whether the key may sign the provider's packages.
func (k TrustedKey) signs(p Provider) bool {
	_, ok := matching(k.Providers, p)
	return ok || k.Providers == nil && k.PartnerID == ""
}

func (s Signers) signingKeys() signingKeys {
	if s.keys != nil {
		return *s.keys
	}
	return defaultSigningKeys()
}

// candidates returns the keys whose signatures count, without those that can't be read. Those of
// found that are partners' keep their trust signatures.
func (s Signers) candidates(p Provider, found []PublicKey, signed signedChecksums) (keys []PublicKey) {
	add := func(key PublicKey) {
		if _, err := readKey(key.Armored); err == nil {
			keys = append(keys, key)
		}
	}
	add(PublicKey{Armored: signed.Keys.Official})
	for _, key := range found[:min(len(found), maxPGPKeys)] {
		if s.namesPartner(p, key) && signed.isPartner(key) {
			add(key)
		}
	}
	for _, key := range s.Trusted {
		if key.PartnerID == "" && key.signs(p) {
			add(PublicKey{Armored: key.Armored})
		}
	}
	return keys
}

// namesPartner reports whether the user has named all keys of the armored block for the provider.
func (s Signers) namesPartner(p Provider, found PublicKey) bool {
	read, err := readKeyPackets(found.Armored)
	named := func(id string) bool {
		return slices.ContainsFunc(s.Trusted, func(k TrustedKey) bool { return strings.EqualFold(k.PartnerID, id) && k.signs(p) })
	}
	return err == nil && len(read.primary) > 0 && !slices.ContainsFunc(read.primary, func(id string) bool { return !named(id) })
}

// needsKeys reports whether the signature may be by a key that only the mirror has. The mirror's
// keys are read even if they don't count here: a mirror of this mirror passes them on to users for
// whom they count.
func (s Signers) needsKeys(signature []byte) bool {
	official, _ := readKeyPackets(s.signingKeys().Official) // unreadable: nothing is by it
	return s.signingKeys().Partner != "" && !slices.Contains(official.primary, issuerOf(signature))
}

// TrustIn returns the Trust of a package in a mirror. If a key of s has signed the version's checksum list, the publisher's signature
// replaces pkg.Trust, which is what the mirror itself says. read returns one of the version's files (terraform-provider-TYPE_VERSION_SHA256SUMS.sig,
// ..._SHA256SUMS or ..._SHA256SUMS.keys.json), or nil if the file doesn't exist or has more than max bytes. It is called when the Trust is
// loaded.
func (s Signers) TrustIn(pkg Package, read readDocument) Trust {
	return pkg.trustIn(func(ctx context.Context) (*signedChecksums, error) {
		return s.verifyDocuments(ctx, pkg.Provider, pkg.Version, pkg.Source, read)
	})
}

// trustIn is TrustIn with a function that returns the verified documents of the package's version.
func (pkg Package) trustIn(verified func(ctx context.Context) (*signedChecksums, error)) Trust {
	trust := pkg.Trust
	trust.Load = func(ctx context.Context) (Trust, error) {
		signed, err := verified(ctx)
		if err != nil || signed == nil {
			return pkg.Trust, err
		}
		return signed.trustOf(pkg), nil
	}
	return trust
}

// listedAsSigned authenticates by the hashes that a mirror lists, and puts trusted hashes into
// AuthenticationResult.Signed.
type listedAsSigned struct {
	own AnyHash
	all []Hash // trusted hashes of all archives; nil means only the archive's own checksum
}

// Recorded returns the Trust of a package by these hashes, such that lock files record the archive's checksum, too, as
// OpenTofu does: it is computed from the bytes that were read. An empty list returns the zero Trust.
func (a AnyHash) Recorded() Trust {
	trust := a.trust()
	if trust.Authenticator != nil {
		trust.Authenticator = listedAsSigned{own: a}
	}
	return trust
}

// Authenticate implements Authenticator.
func (l listedAsSigned) Authenticate(d Digests) (AuthenticationResult, error) {
	result, err := l.own.Authenticate(d)
	if err != nil {
		return result, err
	}
	result.Signed = slices.Clone(l.all)
	if sum := ZH(d.SHA256); l.all == nil && d.SHA256 != ([32]byte{}) && slices.Contains(l.own, sum) {
		result.Signed = []Hash{sum}
	}
	return result, nil
}

// verifyDocuments returns a version's documents in a source, or nil if they are missing or no key that counts has signed
// them.
func (s Signers) verifyDocuments(ctx context.Context, p Provider, v Version, source string, read readDocument) (*signedChecksums, error) {
	d, ok, err := readDocuments(ctx, p, v, read, s.needsKeys)
	if err != nil || !ok {
		return nil, err
	}
	signed := signedChecksums{Sums: d.Sums, Signature: d.Signature, Keys: s.signingKeys()}
	signed.PublicKeys = s.candidates(p, d.Keys, signed)
	signed.verified, err = signed.checkSignature()
	if errors.Is(err, errUnknownIssuer) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the signed checksums beside the package in %s: %w", source, err)
	}
	signed.PublicKeys = d.Keys // for mirrors of this mirror
	return &signed, nil
}

// trustOf returns the Trust of a package of the version by the signed list. It drops the zh that the mirror lists for the
// archive, because the signed list decides about the archive's bytes, and keeps the mirror's hashes of files.
func (c signedChecksums) trustOf(pkg Package) Trust {
	c.FileName = pkg.Provider.PackedName(pkg.Version, pkg.Platform)
	zh, _ := parseChecksums(c.Sums).find(c.FileName)
	c.SHA256, _ = zh.SHA256()
	trust := c.trust()
	trust.ListedHashes = slices.DeleteFunc(AnyHash(pkg.Trust.ListedHashes).supported(), func(h Hash) bool { return h.Scheme() == hashing.ZH })
	if zh != "" {
		trust.ListedHashes = append(trust.ListedHashes, zh)
	}
	return trust
}
