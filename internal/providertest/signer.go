package providertest

import (
	"bytes"
	"crypto"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// Signer signs checksum lists with an OpenPGP key of its own. Many goroutines may use it, except
// for Revoke.
type Signer struct {
	entity *openpgp.Entity
	opts   SignerOptions
}

// SignerOptions configures NewSigner; the zero value is a key that is valid now and doesn't expire.
type SignerOptions struct {
	Name     string        // of the key's owner; "" means a fictional one
	Created  time.Time     // of the key; the zero value means an hour ago
	Lifetime time.Duration // of the key, from Created on, in whole seconds; 0 means no expiry
	SignedAt time.Time     // the creation time in signatures; the zero value means the time of NewSigner
	// SignatureLifetime is the lifetime of signatures, in whole seconds; 0 means no expiry.
	SignatureLifetime time.Duration
}

// NewSigner makes a signer with a fresh key.
func NewSigner(opts SignerOptions) *Signer {
	if opts.Name == "" {
		opts.Name = "providertest"
	}
	if opts.Created.IsZero() {
		opts.Created = time.Now().Add(-time.Hour)
	}
	if opts.SignedAt.IsZero() {
		opts.SignedAt = time.Now()
	}
	entity, err := openpgp.NewEntity(opts.Name, "", "test@example.com", &packet.Config{
		Algorithm:       packet.PubKeyAlgoEdDSA, // fast to make, and every tool verifies it
		Time:            func() time.Time { return opts.Created },
		KeyLifetimeSecs: uint32(opts.Lifetime / time.Second),
	})
	must(err)
	return &Signer{entity: entity, opts: opts}
}

// KeyID returns the ID of the primary key, in 16 upper-case hex digits.
func (s *Signer) KeyID() string { return fmt.Sprintf("%016X", s.entity.PrimaryKey.KeyId) }

// Key returns the signer's key as a registry lists it, without a trust signature.
func (s *Signer) Key() Key { return Key{KeyID: s.KeyID(), Armored: s.Armored()} }

// Armored returns the public key in ASCII armor.
func (s *Signer) Armored() string { return inArmor(openpgp.PublicKeyType, s.public()) }

// Sign returns a binary detached signature, the same for the same data. It doesn't check whether
// the key is valid, so that tests can make invalid signatures.
func (s *Signer) Sign(data []byte) []byte {
	lifetime := uint32(s.opts.SignatureLifetime / time.Second)
	sig := &packet.Signature{
		Version:      s.entity.PrimaryKey.Version,
		SigType:      packet.SigTypeBinary,
		PubKeyAlgo:   s.entity.PrimaryKey.PubKeyAlgo,
		Hash:         crypto.SHA256,
		CreationTime: s.opts.SignedAt,
		IssuerKeyId:  &s.entity.PrimaryKey.KeyId,
	}
	if lifetime > 0 {
		sig.SigLifetimeSecs = &lifetime
	}
	h := crypto.SHA256.New()
	h.Write(data)
	salted := false
	must(sig.Sign(h, s.entity.PrivateKey, &packet.Config{NonDeterministicSignaturesViaNotation: &salted}))
	var out bytes.Buffer
	must(sig.Serialize(&out))
	return out.Bytes()
}

// TrustSignature signs another signer's key, as HashiCorp's partner programme does: it returns an
// armored detached signature of the key's unarmored bytes.
func (s *Signer) TrustSignature(over *Signer) string {
	return inArmor(openpgp.SignatureType, s.Sign(over.public()))
}

// Revoke adds a revocation to the key.
func (s *Signer) Revoke() { must(s.entity.RevokeKey(packet.KeyCompromised, "test", nil)) }

func (s *Signer) public() []byte {
	var out bytes.Buffer
	must(s.entity.Serialize(&out))
	return out.Bytes()
}

func inArmor(blockType string, content []byte) string {
	var out strings.Builder
	w, err := armor.Encode(&out, blockType, nil)
	must(err)
	_, err = io.Copy(w, bytes.NewReader(content))
	must(err)
	must(w.Close())
	return out.String()
}

// must panics on errors that can't happen with the keys made here and with buffers in memory.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("providertest: %s", err))
	}
}
