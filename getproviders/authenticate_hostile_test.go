package getproviders_test

import (
	"bytes"
	"crypto"

	//lint:ignore SA1019 hostile keys are of this kind
	"crypto/dsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"errors"
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

// pgp collects OpenPGP packets. It panics on errors, which are mistakes of the test.
type pgp struct{ bytes.Buffer }

func (p *pgp) add(packets ...interface{ Serialize(w io.Writer) error }) {
	for _, each := range packets {
		check(each.Serialize(p))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
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
	check(err)
	_, err = w.Write(p.Bytes())
	check(errors.Join(err, w.Close()))
	return out.String()
}

// mpi returns a number in OpenPGP's format.
func mpi(n *big.Int) []byte {
	return append([]byte{byte(n.BitLen() >> 8), byte(n.BitLen())}, n.Bytes()...)
}

// bits returns an odd number of the given length.
func bits(n uint) *big.Int {
	return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), n), big.NewInt(1))
}

// unsigned returns a signature made by no key: it names issuer as its key, and has the given
// numbers.
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

// claimed returns a key with a user ID whose certification looks valid, and a signature that seems to be the key's.
func claimed(public *packet.PublicKey, numbers ...*big.Int) (key, signature *pgp) {
	key, signature = &pgp{}, &pgp{}
	key.add(public, packet.NewUserId("hostile", "", ""))
	key.raw(2, unsigned(certified, public.PubKeyAlgo, public.KeyId, numbers...))
	signature.raw(2, unsigned(packet.SigTypeBinary, public.PubKeyAlgo, public.KeyId, numbers...))
	return key, signature
}

func dsaKey(p, q uint) (key, signature *pgp) {
	public := &dsa.PublicKey{Parameters: dsa.Parameters{P: bits(p), Q: bits(q), G: big.NewInt(2)}, Y: bits(p - 1)}
	return claimed(packet.NewDSAPublicKey(yearAgo, public), bits(q-2), bits(q-3))
}

// signedBy returns the public key of a private one, with certified user IDs, and a signature of a
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
		check(s.SignUserId(id.Id, &private.PublicKey, private, config))
		key.add(s)
	}
	s, h := made(packet.SigTypeBinary, hash), hash.New()
	h.Write(document)
	check(s.Sign(h, private, config))
	signature.add(s)
	return key, signature
}

func rsaKey(t *testing.T, size int) *packet.PrivateKey {
	t.Setenv("GODEBUG", "rsa1024min=0")
	private := must.Get(rsa.GenerateKey(rand.Reader, size))(t)
	return packet.NewRSAPrivateKey(yearAgo, private)
}

// hostile is a kind of key whose owner signs the document.
func hostile(algorithm packet.PublicKeyAlgorithm, curve packet.Curve) *openpgp.Entity {
	config := &packet.Config{Algorithm: algorithm, Curve: curve, Time: func() time.Time { return yearAgo }}
	entity, err := openpgp.NewEntity("hostile", "", "", config)
	check(err)
	check(entity.AddSigningSubkey(config))
	return entity
}

const certified = packet.SigTypePositiveCert

// A registry chooses the keys by which a signature is verified, and so the costs. Without limits,
// each of these keys can take seconds, end the program, or be accepted.
func TestSignature_RefusesHostileKeysBeforeComputing(t *testing.T) {
	sums, _ := released(newSigner(t))
	entity := hostile(packet.PubKeyAlgoEdDSA, "")
	private, subkey := entity.PrivateKey, entity.Subkeys[1]
	strong := rsaKey(t, 2048)
	type forged struct{ key, signature *pgp }
	by := func(private *packet.PrivateKey) func(f *forged) {
		return func(f *forged) { f.key, f.signature = signedBy(private, sums.Sums, crypto.SHA256, certified) }
	}
	more := func(n int, tag byte, content []byte) func(f *forged) {
		return func(f *forged) {
			for range n {
				f.key.raw(tag, content)
			}
		}
	}
	for name, test := range map[string]struct {
		change func(f *forged) // the content that an EdDSA key has signed
		want   string
	}{
		"DSA of 16384 bits":         {func(f *forged) { f.key, f.signature = dsaKey(16384, 256) }, "DSA keys of 16384 bits are refused; 2048 to 3072 are accepted"},
		"DSA with a large subgroup": {func(f *forged) { f.key, f.signature = dsaKey(3072, 3064) }, "a subgroup of 3064 bits"},
		"DSA of 1024 bits":          {func(f *forged) { f.key, f.signature = dsaKey(1024, 160) }, "DSA keys of 1024 bits are refused"},
		"RSA of 1024 bits":          {by(rsaKey(t, 1024)), "RSA keys of 1024 bits are refused; 2048 to 8192 are accepted"},
		"RSA of 16384 bits": {func(f *forged) {
			f.key, f.signature = claimed(packet.NewRSAPublicKey(yearAgo, &rsa.PublicKey{N: bits(16384), E: 65537}), bits(16000))
		}, "RSA keys of 16384 bits are refused"},
		"a curve that isn't NIST's": {by(hostile(packet.PubKeyAlgoECDSA, packet.CurveBrainpoolP256).PrivateKey), "keys of OpenPGP's algorithm 19 with this curve are refused"},
		"SHA-1":                     {func(f *forged) { by(strong)(f); f.signature = bySHA1(strong, sums.Sums) }, "made with SHA-1"},
		// The library panics while it searches for the certification.
		"only ever revoked": {func(f *forged) {
			f.key, _ = signedBy(private, nil, crypto.SHA256, packet.SigTypeCertificationRevocation)
			f.key.add(subkey.PublicKey, subkey.Sig)
			_, f.signature = signedBy(subkey.PrivateKey, sums.Sums, crypto.SHA256)
		}, "has certified none of its user IDs"},
		"certified a thousand times": {func(f *forged) {
			f.key, _ = signedBy(private, nil, crypto.SHA256, slices.Repeat([]packet.SignatureType{certified}, 1000)...)
		}, "more than 200 signatures of keys over themselves"},
		// Reading one binding verifies two signatures: the key's, and the subkey's inside of it.
		"a subkey bound 101 times": {func(f *forged) {
			f.key.add(subkey.PublicKey)
			for range 101 {
				f.key.add(subkey.Sig)
			}
		}, "more than 200 signatures of keys over themselves"},
		"thousands of packets": {more(2001, 13, []byte("x")), "more than 2000 packets"},
		"thousands of subkeys": {func(f *forged) {
			for range 1000 {
				f.key.add(subkey.PublicKey)
			}
		}, "more than 64 keys"},
		"an endless user ID": {more(1, 13, make([]byte, 60000)), "a user ID of more than 2048 bytes"},
		// The packet inside is a private key, which the library would take for the next key.
		"packets behind a key's end":  {more(1, 2, append(unsigned(packet.SigTypeGenericCert, packet.PubKeyAlgoRSA, 1, bits(2048)), 0x80|5<<2, 1, 4)), "bytes too many"},
		"a private key":               {func(f *forged) { f.key.add(private) }, "an OpenPGP packet of type 5"},
		"a signature of many packets": {func(f *forged) { f.signature = &pgp{*bytes.NewBuffer(bytes.Repeat(f.signature.Bytes(), 65))} }, "more than 64 packets"},
		"a message as the signature": {func(f *forged) {
			message := &pgp{}
			message.raw(11, []byte("b\x00\x00\x00\x00\x00message"))
			message.Write(f.signature.Bytes())
			f.signature = message
		}, "an OpenPGP packet of type 11"},
	} {
		t.Run(name, func(t *testing.T) {
			var f forged
			by(private)(&f)
			test.change(&f)
			attacked, digests := released(newSigner(t), getproviders.PublicKey{Armored: f.key.armored(openpgp.PublicKeyType)})
			attacked.Signature = f.signature.Bytes()
			_, err := attacked.Authenticate(digests)
			wantAuthenticationError(t, err, "invalid_signature", test.want)
		})
	}
}

// bySHA1 makes a signature that the library would verify, but refuses to make.
func bySHA1(private *packet.PrivateKey, document []byte) *pgp {
	content := unsigned(packet.SigTypeBinary, packet.PubKeyAlgoRSA, private.KeyId)
	content[3] = 2
	hashed := content[:6+content[5]]
	h := sha1.New()
	h.Write(slices.Concat(document, hashed, []byte{4, 0xff, 0, 0, 0, byte(len(hashed))}))
	digest := h.Sum(nil)
	number, err := rsa.SignPKCS1v15(rand.Reader, private.PrivateKey.(*rsa.PrivateKey), crypto.SHA1, digest)
	check(err)
	copy(content[len(content)-2:], digest)
	signature := &pgp{}
	signature.raw(2, append(content, mpi(new(big.Int).SetBytes(number))...))
	return signature
}

// Real keys have many certifications by other keys, which aren't verified.
func TestSignature_AcceptsWhatHonestKeysHave(t *testing.T) {
	sums, _ := released(newSigner(t))
	entity := hostile(packet.PubKeyAlgoEdDSA, "")
	key, signature := signedBy(entity.PrivateKey, sums.Sums, crypto.SHA512, certified)
	for i := range uint64(1500) {
		key.raw(2, unsigned(packet.SigTypeGenericCert, packet.PubKeyAlgoRSA, i+1, bits(2048)))
	}
	fine, digests := released(newSigner(t), getproviders.PublicKey{Armored: key.armored(openpgp.PublicKeyType)})
	fine.Signature = signature.Bytes()
	must.Equal(t, must.Get(fine.Authenticate(digests))(t).TrustLevel, getproviders.LevelCommunity)
}

// A signature of several packets has a known issuer only if each of them names one. Otherwise a key that isn't named may have made it, and
// only verification tells whether it is valid.
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
