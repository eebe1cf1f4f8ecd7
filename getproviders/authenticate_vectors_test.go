package getproviders

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func readVector(t testing.TB, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", "vectors", name)))(t)
}

// nullProvider is the registry's document for version 3.1.0 of hashicorp/null, for linux_amd64.
func nullProvider(t testing.TB) (signedChecksums, Digests) {
	sum := [32]byte{
		0x53, 0xe3, 0x05, 0x45, 0xff, 0x89, 0x26, 0xa8, 0xe3, 0x0a, 0xd3, 0x06, 0x48, 0x99, 0x1c, 0xa8,
		0xb9, 0x3b, 0x6f, 0xa4, 0x96, 0x27, 0x2c, 0xd2, 0x3b, 0x26, 0x76, 0x3c, 0x8e, 0xe8, 0x45, 0x15,
	}
	return signedChecksums{
		FileName:   "terraform-provider-null_3.1.0_linux_amd64.zip",
		SHA256:     sum,
		Sums:       readVector(t, "hashicorp-null-3.1.0_SHA256SUMS"),
		Signature:  readVector(t, "hashicorp-null-3.1.0_SHA256SUMS.sig"),
		PublicKeys: []PublicKey{{Armored: defaultSigningKeys().Official}},
		Keys:       defaultSigningKeys(),
	}, Digests{SHA256: sum}
}

func TestSignedChecksums_HashicorpRelease_IsOfficial(t *testing.T) {
	checksums, digests := nullProvider(t)
	got := must.Get(checksums.Authenticate(digests))(t)
	must.Equal(t, got.TrustLevel, LevelOfficial)
	must.Equal(t, got.KeyID, "")
	must.Len(t, got.Signed, 11)
	must.Equal(t, got.Signed[6], ZH(digests.SHA256))
	checksums.Keys = signingKeys{}
	got = must.Get(checksums.Authenticate(digests))(t, "without the embedded key")
	must.Equal(t, got.TrustLevel, LevelCommunity)
	must.Equal(t, got.KeyID, "34365D9472D7468F")
}

// Signatures of keys over themselves are verified up to a maximum number.
func TestReadRing_VerifiesAsManySignaturesAsItMay(t *testing.T) {
	for missing, fine := range map[int]bool{0: true, 1: false} {
		key, err := readKeyPackets(defaultSigningKeys().Official)
		if err != nil || key.selfSignatures < 2 {
			t.Fatalf("%d signatures, %v", key.selfSignatures, err)
		}
		left := key.selfSignatures - missing
		must.Equal(t, key.readRing(&left) == nil, fine, missing)
	}
}

func TestSignedChecksums_HashicorpRelease_OutlivesItsKeys(t *testing.T) {
	for now, wants := range map[string][]string{
		"2026-06-01": {"B0B441097685B676 expired on 2022-04-20; the signature is of 2021-04-22"},
		"2031-01-01": {"34365D9472D7468F expired on 2030-03-01", "B0B441097685B676 expired on 2022-04-20"},
		"2020-01-01": {"34365D9472D7468F was made on 2021-04-19", "B0B441097685B676 was made on 2021-04-19"},
	} {
		synctest.Test(t, func(t *testing.T) {
			checksums, digests := nullProvider(t)
			time.Sleep(time.Until(must.Get(time.Parse(time.DateOnly, now))(t)))
			got := must.Get(checksums.Authenticate(digests))(t, now)
			must.Equal(t, got.TrustLevel, LevelOfficial, now)
			must.Len(t, got.Notes, len(wants), now)
			for i, want := range wants {
				must.Contain(t, got.Notes[i], want, now)
			}
		})
	}
}

// The partner programme's example isn't a checksum list, so only its signature
// is verified.
func TestAuthenticate_PartnerVector(t *testing.T) {
	checksums := signedChecksums{
		Sums:      readVector(t, "partner-document.txt"),
		Signature: readVector(t, "partner-document.txt.sig"),
		PublicKeys: []PublicKey{{
			Armored:        string(readVector(t, "partner-author-key.asc")),
			TrustSignature: string(readVector(t, "partner-author-key.trust-signature.asc")),
		}},
		Keys: defaultSigningKeys(),
	}
	for _, want := range []TrustLevel{LevelPartner, LevelCommunity} { // with a trust signature, and without one
		got := must.Get(checksums.checkSignature())(t, want)
		must.Equal(t, got.TrustLevel, want)
		must.Equal(t, got.KeyID, "37A6AB3BCF2C170A", want)
		must.Len(t, got.Notes, 0, want)
		checksums.PublicKeys[0].TrustSignature = ""
	}
}

// FuzzSignature: for any keys and signatures of a registry, nothing panics, and each failure means
// that the package isn't authentic. The test armors the keys, so that the fuzzer gets past the
// armor.
func FuzzSignature(f *testing.F) {
	original, digests := nullProvider(f)
	binary := func(armored, blockType string) []byte {
		return must.Get(unarmor(armored, blockType))(f)
	}
	official := binary(original.Keys.Official, "PGP PUBLIC KEY BLOCK")
	author := binary(string(readVector(f, "partner-author-key.asc")), "PGP PUBLIC KEY BLOCK")
	trust := binary(string(readVector(f, "partner-author-key.trust-signature.asc")), "PGP SIGNATURE")
	f.Add(original.Sums, original.Signature, official, []byte{})
	f.Add(readVector(f, "partner-document.txt"), readVector(f, "partner-document.txt.sig"), author, trust)
	f.Add([]byte{}, []byte{}, []byte{}, []byte{})

	armored := func(blockType string, content []byte) string {
		text := "-----BEGIN " + blockType + "-----\n\n"
		for line := range slices.Chunk(content, 48) {
			text += base64.StdEncoding.EncodeToString(line) + "\n"
		}
		return text + "-----END " + blockType + "-----\n"
	}
	f.Fuzz(func(t *testing.T, sums, signature, key, trust []byte) {
		c := original
		c.Sums, c.Signature = sums, signature
		c.PublicKeys = []PublicKey{{Armored: armored("PGP PUBLIC KEY BLOCK", key)}, {Armored: string(key)}}
		if len(trust) != 0 {
			c.PublicKeys[0].TrustSignature = armored("PGP SIGNATURE", trust)
		}
		if _, err := c.checkSignature(); err != nil && !errors.Is(err, ErrAuthentication) {
			t.Errorf("error %v doesn't match ErrAuthentication", err)
		}
		if _, err := c.Authenticate(digests); err != nil && !errors.Is(err, ErrAuthentication) {
			t.Errorf("error %v doesn't match ErrAuthentication", err)
		}
	})
}
