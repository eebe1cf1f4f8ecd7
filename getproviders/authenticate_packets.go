package getproviders

import (
	"bytes"
	"crypto"

	//lint:ignore SA1019 registries accept DSA keys, and its numbers have to be measured
	"crypto/dsa"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Limits of keys and signatures. A registry names the keys and a mirror keeps them, so both could
// choose numbers that take hours to compute with. The limits are checked before anything is
// computed. With every number at its limit, authentication takes under a second, so it needs no
// context.
const (
	maxPGPBytes       = 1 << 20 // a key with hundreds of certifications by others has 200 KiB
	maxPGPPackets     = 2000    // in one block
	maxPGPKeys        = 64      // blocks that are read, and keys with subkeys in a block
	maxSelfSignatures = 200     // that are verified for one package; certifications by others aren't verified
	maxUserID         = 2048    // bytes; GnuPG makes no longer ones

	minRSABits, maxRSABits = 2048, 8192
	minDSABits, maxDSABits = 2048, 3072
	maxDSASubgroupBits     = 256
)

// pgpPackets are the packets of a key or of a signature, each parsed separately.
//
// When the library doesn't understand a packet, it resumes reading in the middle of it. content is
// the packets serialized again, with exact lengths and without trailing bytes, so the library reads
// the checked packets and no others.
type pgpPackets struct {
	content []byte
	parsed  []packet.Packet
}

// The types of packets that matter here; OpenPGP calls them tags.
const (
	tagSignature     = 2
	tagPublicKey     = 6
	tagMarker        = 10
	tagTrust         = 12
	tagUserID        = 13
	tagPublicSubkey  = 14
	tagUserAttribute = 17
	tagPadding       = 21
	firstFreeTag     = 40 // unknown packets from here on may be skipped
)

// readPackets splits content into packets with the given tags. It skips the packets that the
// standard has readers skip, and returns an error for other tags. It computes nothing.
func readPackets(content []byte, tags ...uint8) (read pgpPackets, err error) {
	defer recovered(&err)
	if len(content) > maxPGPBytes {
		return pgpPackets{}, fmt.Errorf("it has more than %d bytes", maxPGPBytes)
	}
	reader := packet.NewOpaqueReader(bytes.NewReader(content))
	var out bytes.Buffer
	for n := 1; ; n++ {
		opaque, err := reader.Next()
		if err == io.EOF {
			return pgpPackets{content: out.Bytes(), parsed: read.parsed}, nil
		}
		if err != nil {
			return pgpPackets{}, err
		}
		if n > maxPGPPackets {
			return pgpPackets{}, fmt.Errorf("it has more than %d packets", maxPGPPackets)
		}
		if tag := opaque.Tag; tag == tagMarker || tag == tagTrust || tag == tagPadding || tag >= firstFreeTag {
			continue
		}
		if !slices.Contains(tags, opaque.Tag) {
			return pgpPackets{}, fmt.Errorf("it has an OpenPGP packet of type %d, which doesn't belong there", opaque.Tag)
		}
		parsed, err := readPacket(opaque, &out)
		if err != nil {
			return pgpPackets{}, err
		}
		if parsed != nil {
			read.parsed = append(read.parsed, parsed)
		}
	}
}

// readPacket appends a packet to out. It returns nil if the library doesn't understand the packet;
// the library decides about that when it reads out.
func readPacket(opaque *packet.OpaquePacket, out *bytes.Buffer) (packet.Packet, error) {
	start := out.Len()
	if err := opaque.Serialize(out); err != nil {
		return nil, err
	}
	rest := bytes.NewReader(out.Bytes()[start:])
	parsed, err := packet.Read(rest)
	if err != nil {
		return nil, nil
	}
	if rest.Len() > 0 {
		return nil, fmt.Errorf("an OpenPGP packet of type %d has %d bytes too many", opaque.Tag, rest.Len())
	}
	return parsed, nil
}

// recovered turns a panic into an error: the library panics on some malicious keys and signatures.
func recovered(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("the OpenPGP library fails at it: %.200s", fmt.Sprint(reason))
	}
}

// readKeyPackets returns a key whose packets are within the limits. It verifies nothing. The key is
// returned beside the error if its IDs are known.
func readKeyPackets(armored string) (key signingKey, err error) {
	defer recovered(&err)
	if key.content, err = unarmor(armored, openpgp.PublicKeyType); err != nil {
		return signingKey{}, err
	}
	key.packets, err = readPackets(key.content, tagSignature, tagPublicKey, tagUserID, tagPublicSubkey, tagUserAttribute)
	if err != nil {
		return key, err
	}
	var owner *packet.PublicKey
	var refused error
	for _, parsed := range key.packets.parsed {
		switch p := parsed.(type) {
		case *packet.PublicKey:
			if !p.IsSubkey {
				owner = p
				key.primary = append(key.primary, keyID(p.KeyId))
			}
			key.ids = append(key.ids, p.KeyId)
			if err := checkKey(p); err != nil && refused == nil {
				refused = fmt.Errorf("key %s: %w", keyID(p.KeyId), err)
			}
		case *packet.UserId:
			if len(p.Id) > maxUserID {
				return key, fmt.Errorf("it has a user ID of more than %d bytes", maxUserID)
			}
		case *packet.Signature:
			key.selfSignatures += verifications(p, owner)
		}
	}
	if len(key.ids) > maxPGPKeys {
		return key, fmt.Errorf("it has more than %d keys", maxPGPKeys)
	}
	return key, refused
}

// verifications returns how many signatures the library verifies for s when it reads a key that
// belongs to owner: one for a signature by the key itself, two if it has another signature inside.
func verifications(s *packet.Signature, owner *packet.PublicKey) int {
	switch {
	case owner == nil:
		return 0
	case s.EmbeddedSignature != nil:
		return 2
	case s.SigType == packet.SigTypeKeyRevocation, s.SigType == packet.SigTypeDirectSignature,
		s.SigType == packet.SigTypeSubkeyBinding, s.SigType == packet.SigTypeSubkeyRevocation, s.CheckKeyIdOrFingerprint(owner):
		return 1
	}
	return 0
}

// checkKey refuses a key that is too weak, or takes long to verify with.
func checkKey(key *packet.PublicKey) error {
	if !key.PubKeyAlgo.CanSign() {
		return nil // an encryption key is never computed with
	}
	switch public := key.PublicKey.(type) {
	case *rsa.PublicKey:
		return checkBits("RSA", public.N.BitLen(), minRSABits, maxRSABits)
	case *dsa.PublicKey:
		if bits := public.Q.BitLen(); bits > maxDSASubgroupBits {
			return fmt.Errorf("a DSA key with a subgroup of %d bits is refused, %d is the most", bits, maxDSASubgroupBits)
		}
		return checkBits("DSA", public.P.BitLen(), minDSABits, maxDSABits)
	}
	if key.PubKeyAlgo == packet.PubKeyAlgoEd25519 || key.PubKeyAlgo == packet.PubKeyAlgoEd448 {
		return nil
	}
	curves := []packet.Curve{packet.CurveNistP256, packet.CurveNistP384, packet.CurveNistP521, packet.Curve25519, packet.Curve448}
	if curve, err := key.Curve(); err != nil || !slices.Contains(curves, curve) {
		return fmt.Errorf("keys of OpenPGP's algorithm %d with this curve are refused; RSA, DSA, EdDSA, and ECDSA with NIST's curves are accepted", key.PubKeyAlgo)
	}
	return nil
}

func checkBits(algorithm string, bits, least, most int) error {
	if bits < least || bits > most {
		return fmt.Errorf("%s keys of %d bits are refused; %d to %d are accepted", algorithm, bits, least, most)
	}
	return nil
}

// readDetached reads a detached signature.
func readDetached(content []byte) (pgpPackets, error) {
	read, err := readPackets(content, tagSignature)
	if err == nil && len(read.parsed) > maxPGPKeys {
		err = fmt.Errorf("it has more than %d packets", maxPGPKeys)
	}
	return read, err
}

// issuers returns the IDs of the keys that a signature names as its issuers. whole is false if a
// packet names none.
func (d pgpPackets) issuers() (ids []uint64, whole bool) {
	whole = true
	for _, parsed := range d.parsed {
		if s := parsed.(*packet.Signature); s.IssuerKeyId != nil {
			ids = append(ids, *s.IssuerKeyId)
		} else {
			whole = false
		}
	}
	return ids, whole
}

// errSHA1 is for signatures over documents: today two documents with the same SHA-1 can be made.
// The library doesn't know MD5. SHA-1 is accepted for a key's self-signatures, because old keys
// have it, and forging one gains nothing: a source that could bring a forged key could name any
// other key.
var errSHA1 = errors.New("it is made with SHA-1, which is broken")

// checkHashes returns errSHA1 if one of the keys made a signature with SHA-1.
func (d pgpPackets) checkHashes(ids []uint64) error {
	for _, parsed := range d.parsed {
		s := parsed.(*packet.Signature)
		if s.Hash == crypto.SHA1 && s.IssuerKeyId != nil && slices.Contains(ids, *s.IssuerKeyId) {
			return errSHA1
		}
	}
	return nil
}

// issuerOf returns the ID of the key that a signature names as its issuer, or "" if it can't be
// read or names none.
func issuerOf(signature []byte) string {
	read, err := readDetached(signature)
	if err != nil {
		return ""
	}
	if ids, _ := read.issuers(); len(ids) > 0 {
		return keyID(ids[0])
	}
	return ""
}

func keyID(id uint64) string { return fmt.Sprintf("%016X", id) }

// signingKeys are the keys that decide between the trust levels of signed packages. They don't make
// a package trusted: a key that its registry names must have signed it, too. No package reaches the
// level of an empty field; with the zero value every signed package is LevelCommunity.
type signingKeys struct {
	Official string // ASCII-armored: a signature by it is LevelOfficial
	Partner  string // ASCII-armored: its trust signature over a key makes LevelPartner
}

// signingKey is a public key; its block may hold several.
type signingKey struct {
	content        []byte // without armor, which is what a trust signature is over
	packets        pgpPackets
	primary        []string // IDs of the primary keys
	ids            []uint64 // of all keys
	selfSignatures int      // how many signatures reading the keys verifies
	ring           openpgp.EntityList
}

func readKey(armored string) (signingKey, error) {
	left := maxSelfSignatures
	return readKeyOf(armored, pgpPackets{}, &left)
}

// readKeyOf is readKey for a key that may have made a signature. If it hasn't, the error is
// ErrUnknownIssuer, and the key's self-signatures aren't verified. left is how many more signatures
// may be verified.
func readKeyOf(armored string, signature pgpPackets, left *int) (signingKey, error) {
	key, err := readKeyPackets(armored)
	issuers, whole := signature.issuers()
	isIssuer := slices.ContainsFunc(key.ids, func(id uint64) bool { return slices.Contains(issuers, id) })
	switch {
	case len(issuers) > 0 && whole && len(key.primary) > 0 && !isIssuer:
		return key, pgperrors.ErrUnknownIssuer
	case err != nil:
		return key, err
	}
	return key, key.readRing(left)
}

// readRing verifies the self-signatures of the block's keys.
func (k *signingKey) readRing(left *int) (err error) {
	defer recovered(&err)
	if *left -= k.selfSignatures; *left < 0 {
		return fmt.Errorf("there are more than %d signatures of keys over themselves", maxSelfSignatures)
	}
	ring, err := openpgp.ReadKeyRing(bytes.NewReader(k.packets.content))
	if err != nil {
		return err
	}
	for _, entity := range ring {
		for name, identity := range entity.Identities {
			if identity.SelfSignature == nil { // it has revocations only
				delete(entity.Identities, name)
			}
		}
		if self, _ := entity.PrimarySelfSignature(); self == nil {
			return fmt.Errorf("key %s has certified none of its user IDs", keyID(entity.PrimaryKey.KeyId))
		}
	}
	k.ring = ring
	return nil
}

func unarmor(armored, blockType string) ([]byte, error) {
	block, err := armor.Decode(strings.NewReader(armored))
	if err == io.EOF {
		return nil, errors.New("no ASCII-armored block found")
	}
	if err != nil {
		return nil, err
	}
	if block.Type != blockType {
		return nil, fmt.Errorf("found a %.40q block, expected %q", block.Type, blockType)
	}
	return io.ReadAll(io.LimitReader(block.Body, maxPGPBytes+1))
}

// idOf returns the ID of a key, or "" if it can't be read. It verifies nothing.
func idOf(armored string) string {
	if key, _ := readKeyPackets(armored); len(key.primary) > 0 {
		return key.primary[0]
	}
	return ""
}
