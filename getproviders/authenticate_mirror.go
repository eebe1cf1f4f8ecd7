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

// Signers says whose signatures count on a checksum list that lies in a mirror.
// Unlike a registry, a mirror has no say in it: the keys that it keeps beside the
// list may be an attacker's. So those count that need no introduction by a registry:
//
//   - the official key, which signs what it signs for no one else,
//   - keys that the user has named, whole,
//   - keys that the user has named by their ID, if they bear the trust signature of the
//     partner programme.
//
// That signature says that a partner has the key. It doesn't say which namespaces are
// the partner's: only the origin registry does, and what a mirror has written down of
// that is the mirror's word. So a partner's key counts where the user says for which providers,
// and any other partner could sign in the place of this one if it counted without.
//
// All are bound to the provider's type, the version and the platform by the
// archive's name in the list. A list that none of them has signed, or that isn't
// whole, is as good as none: who could forge it could leave it out as well, so
// there is nothing to be gained by an error. What one of these keys is said to
// have signed has to be true: a signature that doesn't fit its list, a list that
// doesn't have the archive, or has another checksum for it, are errors, and the
// same as those of a registry.
//
// The zero value has the embedded keys.
type Signers struct {
	keys    *signingKeys // nil: the embedded ones
	Trusted []TrustedKey // that the user has named
}

// TrustedKey is a public key that its user knows to be a publisher's, either whole or by
// its ID. What it has signed is LevelCommunity; with PartnerID, LevelPartner.
type TrustedKey struct {
	Armored string // ASCII-armored
	// PartnerID is the last 16 digits of the key's fingerprint, and Armored is empty. The key
	// lies in the mirror, and has to bear the trust signature of the partner programme.
	PartnerID string
	Providers []Pattern // that it may sign; nil: all, and with PartnerID none
}

// Check returns an error if the key can't be read, or isn't named as it has to be.
func (k TrustedKey) Check() error {
	if k.PartnerID == "" {
		_, err := readKey(k.Armored)
		return err
	}
	switch id, err := hex.DecodeString(k.PartnerID); {
	case err != nil || len(id) != 8:
		return fmt.Errorf("%.80q isn't the ID of a key: that has 16 hex digits", k.PartnerID)
	case k.Armored != "":
		return fmt.Errorf("the key %s is named by its ID, and is there as well", k.PartnerID)
	case len(k.Providers) == 0:
		return fmt.Errorf("the key %s is named by its ID, and it isn't said which providers it may sign", k.PartnerID)
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

// candidates are the keys whose signatures count, with what makes some of them
// count more. Those that can't be read don't.
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

// namesPartner reports whether the user has named all keys of the block for the provider.
func (s Signers) namesPartner(p Provider, found PublicKey) bool {
	read, err := readKeyPackets(found.Armored)
	named := func(id string) bool {
		return slices.ContainsFunc(s.Trusted, func(k TrustedKey) bool { return strings.EqualFold(k.PartnerID, id) && k.signs(p) })
	}
	return err == nil && len(read.primary) > 0 && !slices.ContainsFunc(read.primary, func(id string) bool { return !named(id) })
}

// needsKeys reports whether a signature may be by a key that only the mirror has. Keys that
// don't count here are passed on by a mirror of this mirror, to those for whom they count.
func (s Signers) needsKeys(signature []byte) bool {
	official, err := readKey(s.signingKeys().Official)
	return s.signingKeys().Partner != "" && (err != nil || !slices.Contains(official.primary, issuerOf(signature)))
}

// TrustIn is the Trust of a package of a mirror. The Trust that the package
// has is what the mirror itself says of it; it counts where no publisher's signature does. read returns a file that
// belongs to the version, by the names of [layout.SignatureName], [layout.ChecksumsName] and [layout.KeysName]: nil if there is none, or it
// has more than max bytes. It is called when the Trust is loaded.
func (s Signers) TrustIn(pkg Package, read readDocument) Trust {
	return pkg.trustIn(func(ctx context.Context) (*signedChecksums, error) {
		return s.verifyDocuments(ctx, pkg.Provider, pkg.Version, pkg.Source, read)
	})
}

// trustIn is TrustIn, by what verified returns of the package's version.
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

// listedAsSigned authenticates by hashes that a mirror lists, and adds what is believed.
type listedAsSigned struct {
	own AnyHash
	all []Hash // those of all archives, which are believed; nil: the checksum of the archive itself is
}

// Recorded is the Trust of a package by these hashes, of which the checksum of the archive is recorded in lock files, too, as
// OpenTofu does it: it is of bytes that were read. That of an empty list is zero.
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

// verifyDocuments returns what a source has about a version, if its signature is one that counts; nil if that proves nothing.
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
		return nil, fmt.Errorf("what lies beside the package in %s: %w", source, err)
	}
	signed.PublicKeys = d.Keys // which are passed on
	return &signed, nil
}

// trustOf authenticates a package of the version by the list, and not by what the mirror itself lists for the archive: that
// may be the hash of other bytes only if the archive is, too. Beside it count the mirror's hashes of files.
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
