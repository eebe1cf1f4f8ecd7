package getproviders

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Authenticate implements Authenticator. It checks, in this order, that SHA256SUMS has the checksum
// of the registry's description of the package, that the archive has this checksum
// (checksum_mismatch), and that a key which the registry names has signed SHA256SUMS.
func (c signedChecksums) Authenticate(d Digests) (AuthenticationResult, error) {
	list, expected := parseChecksums(c.Sums), ZH(c.SHA256)
	advice := "what the registry says about this package contradicts itself: tell the provider's publisher"
	if c.SHA256 == ([32]byte{}) && c.verified.TrustLevel > LevelUnauthenticated {
		expected = ZH(d.SHA256)
		advice = "the mirror has the checksum list of another version or another provider there: tell those who run it to remove that, or to fill the mirror again"
	}
	if found, listed := list.find(c.FileName); found != expected {
		return AuthenticationResult{}, otherChecksum(c.FileName, expected, listed, advice)
	}
	if _, err := (AnyHash{ZH(c.SHA256)}).Authenticate(d); err != nil {
		return AuthenticationResult{}, err
	}
	result, err := c.checkSignature()
	if err != nil {
		return AuthenticationResult{}, err
	}
	result.Signed = list.hashes()
	if result.Signed == nil {
		result.Signed = []Hash{ZH(c.SHA256)} // this line was checked, and is signed
	}
	return result, nil
}

// checkSignature verifies the signature over SHA256SUMS by the keys that the registry names, and
// returns the trust level of the key that made it.
func (c signedChecksums) checkSignature() (AuthenticationResult, error) {
	if c.verified.TrustLevel > LevelUnauthenticated {
		return c.verified, nil
	}
	if c.Keyless && len(c.PublicKeys) == 0 {
		// Without a key to check, the checksum list is trusted as far as the registry is.
		return AuthenticationResult{TrustLevel: LevelVerifiedChecksum, Notes: []string{"the registry names no signing key for it, so no signature was checked"}}, nil
	}
	issuer, trust, err := c.findIssuer()
	if err != nil {
		return AuthenticationResult{}, err
	}
	official, err := c.checkOfficial(issuer.signature)
	if err != nil {
		return AuthenticationResult{}, err
	}
	if official != nil {
		return AuthenticationResult{TrustLevel: LevelOfficial, Notes: official.notes}, nil
	}
	result := AuthenticationResult{TrustLevel: LevelCommunity, KeyID: issuer.keyID, Notes: issuer.notes}
	if trust == "" || c.Keys.Partner == "" {
		return result, nil
	}
	partner, err := c.checkTrust(issuer.key, trust)
	if err != nil {
		return AuthenticationResult{}, err
	}
	result.TrustLevel = LevelPartner
	result.Notes = append(result.Notes, partner.notes...)
	return result, nil
}

// findIssuer returns the first of the registry's keys that made the signature, and the key's trust
// signature.
func (c signedChecksums) findIssuer() (issuer *signedBy, trust string, err error) {
	const subject = "the signature of the checksum list"
	signature, unread := readDetached(c.Signature)
	var known []string
	var expired *signedBy
	left := maxSelfSignatures
	for i, public := range c.PublicKeys {
		key, err := readKeyOf(public.Armored, signature, &left)
		if errors.Is(err, pgperrors.ErrUnknownIssuer) {
			known = append(known, key.primary...)
			continue
		}
		if err != nil {
			return nil, "", badSignature(fmt.Sprintf("the checksum list: signing key %d of the registry", i+1), nil, "", err)
		}
		if unread != nil {
			return nil, "", badSignature(subject, nil, c.sumsURL, unread)
		}
		issuer, err := key.verify(c.Sums, signature, c.Expiry)
		if errors.Is(err, pgperrors.ErrUnknownIssuer) {
			known = append(known, key.primary...)
			continue
		}
		if err != nil {
			return nil, "", badSignature(subject, key.primary, c.sumsURL, err)
		}
		if c.Expiry == expiredAll && len(issuer.notes) > 0 { // another key may still be good
			if expired == nil {
				expired, trust = issuer, public.TrustSignature
			}
			continue
		}
		return issuer, public.TrustSignature, nil
	}
	if expired != nil {
		return expired, trust, nil
	}
	return nil, "", c.unknownIssuer(known)
}

// checkOfficial returns nil if the signature isn't by the official key.
func (c signedChecksums) checkOfficial(signature pgpPackets) (*signedBy, error) {
	if c.Keys.Official == "" {
		return nil, nil
	}
	left := maxSelfSignatures
	key, err := readKeyOf(c.Keys.Official, signature, &left)
	if errors.Is(err, pgperrors.ErrUnknownIssuer) {
		return nil, nil
	}
	if err != nil {
		return nil, badSignature("the checksum list: the official signing key", nil, "", err)
	}
	official, err := key.verify(c.Sums, signature, c.Expiry)
	if err != nil {
		return nil, nil // still authentic: a key of the registry verified it
	}
	return official, nil
}

// checkTrust verifies that the partner programme has signed a key. A registry with a false trust
// signature isn't trusted in anything else.
func (c signedChecksums) checkTrust(key signingKey, trust string) (*signedBy, error) {
	partners, err := readKey(c.Keys.Partner)
	if err != nil {
		return nil, badSignature("the trust signature: the partner programme's key", nil, "", err)
	}
	subject := fmt.Sprintf("the trust signature of signing key %s", strings.Join(key.primary, ", "))
	content, err := unarmor(trust, openpgp.SignatureType)
	var signature pgpPackets
	if err == nil {
		signature, err = readDetached(content)
	}
	var partner *signedBy
	if err == nil {
		partner, err = partners.verify(key.content, signature, c.Expiry)
	}
	if err != nil {
		return nil, badSignature(subject, nil, "", err)
	}
	return partner, nil
}

// isPartner reports whether the partner programme has signed a key that only the mirror has. The
// key is parsed only after that, because its author chooses how long its self-signatures take to
// verify.
func (c signedChecksums) isPartner(public PublicKey) bool {
	if public.TrustSignature == "" || c.Keys.Partner == "" {
		return false
	}
	content, err := unarmor(public.Armored, openpgp.PublicKeyType)
	if err != nil {
		return false
	}
	_, err = c.checkTrust(signingKey{content: content}, public.TrustSignature)
	return err == nil
}

// signedBy is the result of a valid signature.
type signedBy struct {
	signature pgpPackets
	key       signingKey
	keyID     string // of the primary key, even if a subkey signed
	notes     []string
}

// verify checks a binary detached signature. The error is ErrUnknownIssuer if the signature is by
// another key.
//
// An expired key, even one that had expired when it signed, is accepted with a note: publishers
// extend or replace keys without signing old releases again. A revoked key is an error. An expired
// signature is an error, too, though Terraform ignores that if the key has expired as well.
// OpenTofu accepts expired signatures; with an environment variable it refuses expired keys and
// signatures.
func (k signingKey) verify(document []byte, signature pgpPackets, expiry expiry) (by *signedBy, err error) {
	var clock *packet.Config // the system's
	defer recovered(&err)
	if err := signature.checkHashes(k.ids); err != nil {
		return nil, err
	}
	sig, signer, err := openpgp.VerifyDetachedSignature(
		k.ring, bytes.NewReader(document), bytes.NewReader(signature.content), clock)
	now := clock.Now()
	// The library returns these two errors only if the signature is mathematically right and no key
	// is revoked.
	keyExpired := errors.Is(err, pgperrors.ErrKeyExpired)
	if keyExpired && sig.SigExpired(now) && !sig.CreationTime.After(now) {
		err, keyExpired = pgperrors.ErrSignatureExpired, false
	}
	signatureExpired := errors.Is(err, pgperrors.ErrSignatureExpired)
	if signatureExpired && (expiry != expiredAll || !sig.SigExpired(now) || sig.CreationTime.After(now)) {
		// The library has this error for dates in the future, too.
		return nil, fmt.Errorf("%w (this machine's clock says %s)", err, day(now))
	}
	if err != nil && !keyExpired && !signatureExpired || keyExpired && expiry == expiredNothing {
		return nil, err
	}
	result := &signedBy{signature: signature, key: k, keyID: keyID(signer.PrimaryKey.KeyId)}
	if keyExpired || signatureExpired {
		result.notes = expiryNotes(signer, sig, now)
	}
	if signatureExpired {
		result.notes = append(result.notes, fmt.Sprintf("the signature of %s has expired", day(sig.CreationTime)))
	}
	return result, nil
}

// expiryNotes says when the primary key, and the subkey that signed if one did, expired.
func expiryNotes(signer *openpgp.Entity, sig *packet.Signature, now time.Time) []string {
	var notes []string
	note := func(key *packet.PublicKey, self *packet.Signature) {
		if self == nil || !key.KeyExpired(self, now) {
			return
		}
		id := keyID(key.KeyId)
		if key.CreationTime.After(now) {
			notes = append(notes, fmt.Sprintf("signing key %s was made on %s, which is in the future by this machine's clock",
				id, day(key.CreationTime)))
			return
		}
		end := key.CreationTime.Add(time.Duration(*self.KeyLifetimeSecs) * time.Second)
		notes = append(notes, fmt.Sprintf("signing key %s expired on %s; the signature is of %s",
			id, day(end), day(sig.CreationTime)))
	}
	primarySelf, _ := signer.PrimarySelfSignature()
	note(signer.PrimaryKey, primarySelf)
	for _, sub := range signer.Subkeys {
		if sub.PublicKey.KeyId == *sig.IssuerKeyId {
			note(sub.PublicKey, sub.Sig)
		}
	}
	return notes
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

//go:embed keys/hashicorp-security.asc
var hashicorpSecurityKey string

//go:embed keys/hashicorp-partners.asc
var hashicorpPartnersKey string

// defaultSigningKeys returns HashiCorp's public keys as they are published:
// the one that signs its own releases, and the one by which its partner
// programme signs the keys of others.
func defaultSigningKeys() signingKeys {
	return signingKeys{Official: hashicorpSecurityKey, Partner: hashicorpPartnersKey}
}
