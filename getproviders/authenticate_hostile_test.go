package getproviders_test

import (
	"bytes"
	"crypto"

	//lint:ignore SA1019 hostile keys are of this kind
	"crypto/dsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// pgp collects OpenPGP packets. A failure is a mistake in the test, and panics.
type pgp struct{ bytes.Buffer }

func (p *pgp) add(packets ...interface{ Serialize(w io.Writer) error }) {
	for _, each := range packets {
		if err := each.Serialize(p); err != nil {
			panic(err)
		}
	}
}

// raw adds a packet of the old format, with any content.
func (p *pgp) raw(tag byte, content []byte) {
	p.Write([]byte{0x80 | tag<<2 | 1, byte(len(content) >> 8), byte(len(content))})
	p.Write(content)
}

func (p *pgp) armored(blockType string) string {
	var out strings.Builder
	w, err := armor.Encode(&out, blockType, nil)
	if err == nil {
		_, err = w.Write(p.Bytes())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return out.String()
}

// mpi is a number as OpenPGP writes it.
func mpi(n *big.Int) []byte {
	return append([]byte{byte(n.BitLen() >> 8), byte(n.BitLen())}, n.Bytes()...)
}

// bits is an odd number of that length.
func bits(n uint) *big.Int {
	return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1))
}

// unsigned is a signature that no key made: it names issuer as its key, and has the given numbers.
func unsigned(sigType packet.SignatureType, algorithm packet.PublicKeyAlgorithm, issuer uint64, numbers ...*big.Int) []byte {
	subpackets := []byte{5, 2, 0x66, 0, 0, 0, 9, 16}
	for shift := 56; shift >= 0; shift -= 8 {
		subpackets = append(subpackets, byte(issuer>>shift))
	}
	content := append([]byte{4, byte(sigType), byte(algorithm), 8, 0, byte(len(subpackets))}, subpackets...)
	content = append(content, 0, 0, 'h', 't')
	for _, n := range numbers {
		content = append(content, mpi(n)...)
	}
	return content
}

// dsaKey is a key with a user ID whose certification looks valid, and a signature that looks as if
// the key had made it.
func dsaKey(p, q uint) (key, signature *pgp) {
	public := packet.NewDSAPublicKey(yearAgo, &dsa.PublicKey{Parameters: dsa.Parameters{P: bits(p), Q: bits(q), G: big.NewInt(2)}, Y: bits(p - 1)})
	key, signature = &pgp{}, &pgp{}
	key.add(public, packet.NewUserId("hostile", "", ""))
	numbers := []*big.Int{bits(q - 2), bits(q - 3)}
	key.raw(2, unsigned(packet.SigTypePositiveCert, packet.PubKeyAlgoDSA, public.KeyId, numbers...))
	signature.raw(2, unsigned(packet.SigTypeBinary, packet.PubKeyAlgoDSA, public.KeyId, numbers...))
	return key, signature
}

// signedBy makes a public key from a private one, with certified user IDs, and a signature of a
// document.
func signedBy(private *packet.PrivateKey, document []byte, hash crypto.Hash, certify ...packet.SignatureType) (key, signature *pgp) {
	key, signature = &pgp{}, &pgp{}
	config := &packet.Config{}
	made := func(sigType packet.SignatureType, hash crypto.Hash) *packet.Signature {
		return &packet.Signature{Version: 4, FlagsValid: true, FlagSign: true, SigType: sigType, PubKeyAlgo: private.PubKeyAlgo, Hash: hash, CreationTime: yearAgo, IssuerKeyId: &private.KeyId}
	}
	id := packet.NewUserId("hostile", "", "")
	key.add(&private.PublicKey, id)
	for _, sigType := range certify {
		s := made(sigType, crypto.SHA256)
		if err := s.SignUserId(id.Id, &private.PublicKey, private, config); err != nil {
			panic(err)
		}
		key.add(s)
	}
	s, h := made(packet.SigTypeBinary, hash), hash.New()
	h.Write(document)
	if err := s.Sign(h, private, config); err != nil {
		panic(err)
	}
	signature.add(s)
	return key, signature
}

func rsaKey(t *testing.T, size int) *packet.PrivateKey {
	t.Setenv("GODEBUG", "rsa1024min=0")
	private := must.Get(rsa.GenerateKey(rand.Reader, size))(t)
	return packet.NewRSAPrivateKey(yearAgo, private)
}

// A registry chooses the keys that a signature is verified by, and so what that costs. Each of
// these can take seconds, end the program, or be accepted, if nothing limits it.
func TestSignature_RefusesHostileKeysBeforeComputing(t *testing.T) {
	sums, _ := released(newSigner(t))
	ed := signingKeyOf(t)
	weak := rsaKey(t, 1024)
	strong := rsaKey(t, 2048)

	for name, test := range map[string]struct {
		make func() (key, signature *pgp)
		want string
	}{
		"DSA of 16384 bits":           {func() (*pgp, *pgp) { return dsaKey(16384, 256) }, "DSA keys of 16384 bits are refused; 2048 to 3072 are accepted"},
		"DSA with a large subgroup":   {func() (*pgp, *pgp) { return dsaKey(3072, 3064) }, "a subgroup of 3064 bits"},
		"DSA of 1024 bits":            {func() (*pgp, *pgp) { return dsaKey(1024, 160) }, "DSA keys of 1024 bits are refused"},
		"RSA of 1024 bits":            {func() (*pgp, *pgp) { return signedBy(weak, sums.Sums, crypto.SHA256, certified) }, "RSA keys of 1024 bits are refused; 2048 to 8192 are accepted"},
		"RSA of 16384 bits":           {rsaOf16384, "RSA keys of 16384 bits are refused"},
		"a curve that isn't NIST's":   {func() (*pgp, *pgp) { return brainpoolKey(sums.Sums) }, "keys of OpenPGP's algorithm 19 with this curve are refused"},
		"SHA-1":                       {func() (*pgp, *pgp) { return withSHA1(strong, sums.Sums) }, "made with SHA-1"},
		"only ever revoked":           {func() (*pgp, *pgp) { return onlyRevoked(sums.Sums) }, "has certified none of its user IDs"},
		"certified a thousand times":  {func() (*pgp, *pgp) { return thousandfold(ed, sums.Sums) }, "more than 200 signatures of keys over themselves"},
		"a subkey bound 101 times":    {func() (*pgp, *pgp) { return withBindings(ed, sums.Sums, 101) }, "more than 200 signatures of keys over themselves"},
		"thousands of packets":        {func() (*pgp, *pgp) { return withPackets(ed, sums.Sums, 2001) }, "more than 2000 packets"},
		"thousands of subkeys":        {func() (*pgp, *pgp) { return withSubkeys(ed, sums.Sums, 1000) }, "more than 64 keys"},
		"an endless user ID":          {func() (*pgp, *pgp) { return withUserID(ed, sums.Sums, 60000) }, "a user ID of more than 2048 bytes"},
		"packets behind a key's end":  {func() (*pgp, *pgp) { return withTrailer(ed, sums.Sums) }, "bytes too many"},
		"a private key":               {func() (*pgp, *pgp) { return withPrivateKey(ed, sums.Sums) }, "an OpenPGP packet of type 5"},
		"a signature of many packets": {func() (*pgp, *pgp) { return manySignatures(ed, sums.Sums, 65) }, "more than 64 packets"},
		"a message as the signature":  {func() (*pgp, *pgp) { return messageAsSignature(ed, sums.Sums) }, "an OpenPGP packet of type 11"},
	} {
		t.Run(name, func(t *testing.T) {
			key, signature := test.make()
			attacked, digests := released(newSigner(t), getproviders.PublicKey{Armored: key.armored(openpgp.PublicKeyType)})
			attacked.Signature = signature.Bytes()
			_, err := attacked.Authenticate(digests)
			wantAuthenticationError(t, err, "invalid_signature", test.want)
		})
	}
}

// signingKeyOf is a new EdDSA key.
func signingKeyOf(t *testing.T) *packet.PrivateKey {
	t.Helper()
	entity := must.Get(openpgp.NewEntity("hostile", "", "", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return yearAgo }}))(t)
	return entity.PrivateKey
}

// onlyRevoked is a key that revokes its user ID without certifying it, with a signature by its
// subkey: the library panics when it looks for the certification.
func onlyRevoked(document []byte) (key, signature *pgp) {
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return yearAgo }}
	entity, err := openpgp.NewEntity("hostile", "", "", config)
	if err == nil {
		err = entity.AddSigningSubkey(config)
	}
	if err != nil {
		panic(err)
	}
	key, _ = signedBy(entity.PrivateKey, nil, crypto.SHA256, packet.SigTypeCertificationRevocation)
	sub := entity.Subkeys[len(entity.Subkeys)-1]
	key.add(sub.PublicKey, sub.Sig)
	_, signature = signedBy(sub.PrivateKey, document, crypto.SHA256)
	return key, signature
}

// withBindings is a key with a subkey that is bound many times. To read one binding means to verify two signatures: by the key, and
// inside of that one by the subkey.
func withBindings(private *packet.PrivateKey, document []byte, n int) (key, signature *pgp) {
	config := &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return yearAgo }}
	entity := &openpgp.Entity{PrimaryKey: &private.PublicKey, PrivateKey: private}
	if err := entity.AddSigningSubkey(config); err != nil {
		panic(err)
	}
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	sub := entity.Subkeys[0]
	key.add(sub.PublicKey)
	for range n {
		key.add(sub.Sig)
	}
	return key, signature
}

func rsaOf16384() (key, signature *pgp) {
	public := packet.NewRSAPublicKey(yearAgo, &rsa.PublicKey{N: bits(16384), E: 65537})
	key, signature = &pgp{}, &pgp{}
	key.add(public, packet.NewUserId("hostile", "", ""))
	key.raw(2, unsigned(packet.SigTypePositiveCert, packet.PubKeyAlgoRSA, public.KeyId, bits(16000)))
	signature.raw(2, unsigned(packet.SigTypeBinary, packet.PubKeyAlgoRSA, public.KeyId, bits(16000)))
	return key, signature
}

const certified = packet.SigTypePositiveCert

func brainpoolKey(document []byte) (key, signature *pgp) {
	entity, err := openpgp.NewEntity("hostile", "", "", &packet.Config{
		Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveBrainpoolP256, Time: func() time.Time { return yearAgo }})
	if err != nil {
		panic(err)
	}
	return signedBy(entity.PrivateKey, document, crypto.SHA256, certified)
}

// withSHA1 makes a signature that the library would verify, but refuses to make.
func withSHA1(private *packet.PrivateKey, document []byte) (key, signature *pgp) {
	key, _ = signedBy(private, document, crypto.SHA256, certified)
	content := unsigned(packet.SigTypeBinary, packet.PubKeyAlgoRSA, private.KeyId)
	content[3] = 2
	hashed := content[:6+content[5]]
	h := sha1.New()
	h.Write(document)
	h.Write(hashed)
	h.Write([]byte{4, 0xff, 0, 0, 0, byte(len(hashed))})
	digest := h.Sum(nil)
	number, err := rsa.SignPKCS1v15(rand.Reader, private.PrivateKey.(*rsa.PrivateKey), crypto.SHA1, digest)
	if err != nil {
		panic(err)
	}
	copy(content[len(content)-2:], digest)
	signature = &pgp{}
	signature.raw(2, append(content, mpi(new(big.Int).SetBytes(number))...))
	return key, signature
}

func thousandfold(private *packet.PrivateKey, document []byte) (key, signature *pgp) {
	return signedBy(private, document, crypto.SHA256, slices.Repeat([]packet.SignatureType{certified}, 1000)...)
}

func withPackets(private *packet.PrivateKey, document []byte, n int) (key, signature *pgp) {
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	for range n {
		key.raw(13, []byte("x"))
	}
	return key, signature
}

func withSubkeys(private *packet.PrivateKey, document []byte, n int) (key, signature *pgp) {
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	subkey := private.PublicKey
	subkey.IsSubkey = true
	for range n {
		key.add(&subkey)
	}
	return key, signature
}

func withUserID(private *packet.PrivateKey, document []byte, size int) (key, signature *pgp) {
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	key.raw(13, bytes.Repeat([]byte("x"), size))
	return key, signature
}

// withTrailer has a packet inside of another one, after the content of the outer one: a private
// key, which the library would read as the next packet.
func withTrailer(private *packet.PrivateKey, document []byte) (key, signature *pgp) {
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	s := unsigned(packet.SigTypeGenericCert, packet.PubKeyAlgoRSA, 1, bits(2048))
	key.raw(2, append(s, 0x80|5<<2, 1, 4))
	return key, signature
}

func withPrivateKey(private *packet.PrivateKey, document []byte) (key, signature *pgp) {
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	key.add(private)
	return key, signature
}

func manySignatures(private *packet.PrivateKey, document []byte, n int) (key, signature *pgp) {
	key, one := signedBy(private, document, crypto.SHA256, certified)
	signature = &pgp{}
	for range n {
		signature.Write(one.Bytes())
	}
	return key, signature
}

func messageAsSignature(private *packet.PrivateKey, document []byte) (key, signature *pgp) {
	key, signature = signedBy(private, document, crypto.SHA256, certified)
	literal := &pgp{}
	literal.raw(11, []byte("b\x00\x00\x00\x00\x00message"))
	literal.Write(signature.Bytes())
	return key, literal
}

// Real keys have many certifications by others, which aren't verified.
func TestSignature_AcceptsWhatHonestKeysHave(t *testing.T) {
	sums, _ := released(newSigner(t))
	private := signingKeyOf(t)
	key, signature := signedBy(private, sums.Sums, crypto.SHA512, certified)
	for i := range uint64(1500) {
		key.raw(2, unsigned(packet.SigTypeGenericCert, packet.PubKeyAlgoRSA, i+1, bits(2048)))
	}
	fine, digests := released(newSigner(t), getproviders.PublicKey{Armored: key.armored(openpgp.PublicKeyType)})
	fine.Signature = signature.Bytes()
	must.Equal(t, must.Get(fine.Authenticate(digests))(t).TrustLevel, getproviders.LevelCommunity)
}

// A signature of several packets says by whom it is only if each of them does. Else a key may have made it that none names, and whether it
// holds is for its verification to say.
func TestSignature_ThatDoesntNameAllItsKeysIsVerified(t *testing.T) {
	publisher := newSigner(t)
	checksums, digests := released(publisher, publicKey(publisher))
	anonymous := unsigned(packet.SigTypeBinary, packet.PubKeyAlgoRSA, 0, bits(2048))
	anonymous = slices.Concat(anonymous[:5], []byte{6}, anonymous[6:12], anonymous[22:]) // without the issuer
	signature := &pgp{}
	signature.raw(2, unsigned(packet.SigTypeBinary, packet.PubKeyAlgoRSA, 1, bits(2048)))
	signature.raw(2, anonymous)
	checksums.Signature = signature.Bytes()
	_, err := checksums.Authenticate(digests)
	wantAuthenticationError(t, err, "invalid_signature", "issuer")
}

// Keys that don't matter need not be valid: the registry may still list them.
func TestSignature_IgnoresWeakKeysThatDidNotSign(t *testing.T) {
	publisher := newSigner(t)
	weak, _ := dsaKey(1024, 160)
	checksums, digests := released(publisher, getproviders.PublicKey{Armored: weak.armored(openpgp.PublicKeyType)}, publicKey(publisher))
	must.Equal(t, must.Get(checksums.Authenticate(digests))(t).KeyID, publisher.KeyID())
}
