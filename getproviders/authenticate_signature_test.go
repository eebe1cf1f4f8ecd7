package getproviders_test

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// Short names for what most of these tests use.
type (
	checksums  = getproviders.SignedChecksums
	publicKeys = []getproviders.PublicKey
)

// These, and the files of tests with a registry that signs, can't be in the package: the registry imports it.
var (
	terraform = getproviders.Terraform("1.15.9")
	widget    = getproviders.Provider{Hostname: "registry.example", Namespace: "acme", Type: "widget"}
	v1        = getproviders.MustParseVersion("1.0.0")
	linux     = getproviders.Platform{OS: "linux", Arch: "amd64"}
)

func wantAuthenticationError(t *testing.T, err error, code, text string) {
	t.Helper()
	must.Fail(t, err, getproviders.ErrAuthentication)
	must.Equal(t, getproviders.CodeOf(err), code)
	must.Contain(t, err, text)
}

const releasedFile = "terraform-provider-widget_1.0.0_linux_amd64.zip"

// The start of synctest's clock, and times of keys before and after it.
var (
	present = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	yearAgo = present.AddDate(-1, 0, 0)
)

func signerWith(t *testing.T, opts providertest.SignerOptions) *providertest.Signer {
	t.Helper()
	if opts.Created.IsZero() {
		opts.Created = yearAgo
	}
	if opts.SignedAt.IsZero() {
		opts.SignedAt = yearAgo.AddDate(0, 0, 7)
	}
	return providertest.NewSigner(opts)
}

func newSigner(t *testing.T) *providertest.Signer { return signerWith(t, providertest.SignerOptions{}) }

// released returns a registry's description of an archive with the content "archive", signed by s,
// with the registry's keys.
func released(s *providertest.Signer, keys ...getproviders.PublicKey) (getproviders.SignedChecksums, getproviders.Digests) {
	sum := sha256.Sum256([]byte("archive"))
	other := sha256.Sum256([]byte("another platform's"))
	sums := fmt.Appendf(nil, "%x  %s\n%x  %s\n", other, "terraform-provider-widget_1.0.0_linux_arm.zip", sum, releasedFile)
	return getproviders.SignedChecksums{
		FileName:   releasedFile,
		SHA256:     sum,
		Sums:       sums,
		Signature:  s.Sign(sums),
		PublicKeys: keys,
	}, getproviders.Digests{SHA256: sum, H1: "h1:files="}
}

func publicKey(s *providertest.Signer) getproviders.PublicKey {
	return getproviders.PublicKey{Armored: s.Armored()}
}

func TestTrustLevel_OfSignedPackages(t *testing.T) {
	t.Parallel()
	publisher, hashicorp, partners := newSigner(t), newSigner(t), newSigner(t)
	weak, _ := dsaKey(1024, 160)
	productKeys := getproviders.SigningKeys{Official: hashicorp.Armored(), Partner: partners.Armored()}
	vouchedFor := getproviders.PublicKey{Armored: publisher.Armored(), TrustSignature: partners.TrustSignature(publisher)}

	for name, test := range map[string]struct {
		signer    *providertest.Signer
		keys      publicKeys
		product   getproviders.SigningKeys
		wantLevel getproviders.TrustLevel
		wantKeyID string
	}{
		"by a key of the registry": {
			publisher, publicKeys{publicKey(publisher)}, productKeys, getproviders.LevelCommunity, publisher.KeyID(),
		},
		"by the second of several keys": {
			publisher, publicKeys{publicKey(partners), publicKey(publisher)}, productKeys, getproviders.LevelCommunity, publisher.KeyID(),
		},
		"by a key that is vouched for": {
			publisher, publicKeys{vouchedFor}, productKeys, getproviders.LevelPartner, publisher.KeyID(),
		},
		"a trust signature of another key doesn't count": {
			hashicorp, publicKeys{vouchedFor, publicKey(hashicorp)}, getproviders.SigningKeys{Partner: partners.Armored()}, getproviders.LevelCommunity, hashicorp.KeyID(),
		},
		"by the official key": {
			hashicorp, publicKeys{publicKey(hashicorp)}, productKeys, getproviders.LevelOfficial, "",
		},
		"official is more than vouched for": {
			hashicorp, publicKeys{{Armored: hashicorp.Armored(), TrustSignature: "not even read"}}, productKeys, getproviders.LevelOfficial, "",
		},
		"by a key that is vouched for without its armor": {
			publisher, publicKeys{{Armored: "Our key:\n\n" + publisher.Armored() + "\n\n", TrustSignature: vouchedFor.TrustSignature}}, productKeys, getproviders.LevelPartner, publisher.KeyID(),
		},
		"beside a weak key, which the registry may still list": {
			publisher, publicKeys{{Armored: weak.armored(openpgp.PublicKeyType)}, publicKey(publisher)}, productKeys, getproviders.LevelCommunity, publisher.KeyID(),
		},
		"a product without keys knows one level": {
			publisher, publicKeys{vouchedFor}, getproviders.SigningKeys{}, getproviders.LevelCommunity, publisher.KeyID(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checksums, digests := released(test.signer, test.keys...)
			checksums.Keys = test.product
			got := must.Get(checksums.Authenticate(digests))(t)
			if got.TrustLevel != test.wantLevel || got.KeyID != test.wantKeyID || len(got.Notes) != 0 {
				t.Errorf("got %+v", got)
			}
			if len(got.Signed) != 2 || !slices.Contains(got.Signed, getproviders.ZH(digests.SHA256)) {
				t.Errorf("signed hashes: %q", got.Signed)
			}
		})
	}
}

func TestChecksums_OfRegistryPackages(t *testing.T) {
	t.Parallel()
	publisher := newSigner(t)
	checksums, digests := released(publisher, publicKey(publisher))
	bad := getproviders.Digests{SHA256: sha256.Sum256([]byte("forged")), H1: "h1:files="}
	good, forged := string(getproviders.ZH(digests.SHA256)), string(getproviders.ZH(bad.SHA256))

	_, err := checksums.Authenticate(bad)
	wantAuthenticationError(t, err, "checksum_mismatch", "has checksum "+forged+", expected "+good)

	other := checksums
	other.SHA256 = bad.SHA256 // the description agrees with the forged archive, the signed list doesn't
	_, err = other.Authenticate(bad)
	wantAuthenticationError(t, err, "checksum_list_mismatch", "expected "+forged)

	unlisted := checksums
	unlisted.FileName = "terraform-provider-widget_1.0.0_plan9_amd64.zip"
	_, err = unlisted.Authenticate(digests)
	wantAuthenticationError(t, err, "checksum_list_mismatch", `no SHA-256 for "`+unlisted.FileName+`", expected `+good)
}

func TestAuthenticate_UnknownIssuers(t *testing.T) {
	t.Parallel()
	publisher, stranger, official := newSigner(t), newSigner(t), newSigner(t)
	for name, test := range map[string]struct {
		signer *providertest.Signer
		keys   publicKeys
		want   string
	}{
		"a stranger's key": {stranger, publicKeys{publicKey(publisher)},
			"by key " + stranger.KeyID() + ", from an unknown issuer; keys that the registry names: " + publisher.KeyID()},
		"no keys at all": {publisher, nil, "by key " + publisher.KeyID() + ", from an unknown issuer; keys that the registry names: none"},
		"the official key, which the registry doesn't name": {official, publicKeys{publicKey(publisher)}, "unknown issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checksums, digests := released(test.signer, test.keys...)
			checksums.Keys.Official = official.Armored()
			_, err := checksums.Authenticate(digests)
			wantAuthenticationError(t, err, "unknown_signer", test.want)
		})
	}
}

func TestSignature_ThatDoNotHold(t *testing.T) {
	t.Parallel()
	publisher, partners := newSigner(t), newSigner(t)
	revoked, expired := newSigner(t), signerWith(t, providertest.SignerOptions{Lifetime: 24 * time.Hour})
	revoked.Revoke()
	product := getproviders.SigningKeys{Official: newSigner(t).Armored(), Partner: partners.Armored()}

	for name, test := range map[string]struct {
		change func(c *checksums)
		want   string
	}{
		"over another document": {func(c *checksums) { c.Sums = append(c.Sums, '\n') }, "the signature of the checksum list"},
		"cut off":               {func(c *checksums) { c.Signature = c.Signature[:len(c.Signature)-5] }, "the signature of the checksum list"},
		"not a signature":       {func(c *checksums) { c.Signature = []byte("<html>") }, "the signature of the checksum list"},
		"over another document, by an expired key": {func(c *checksums) {
			c.Signature, c.PublicKeys, c.Sums = expired.Sign(c.Sums), publicKeys{publicKey(expired)}, append(c.Sums, '\n')
		}, "the signature of the checksum list"},
		"by a revoked key": {func(c *checksums) {
			c.Signature, c.PublicKeys = revoked.Sign(c.Sums), publicKeys{publicKey(revoked)}
		}, "revoked key"},
		"key isn't armored":       {func(c *checksums) { c.PublicKeys[0].Armored = "AAAA" }, "signing key 1 of the registry: no ASCII-armored block"},
		"key is empty":            {func(c *checksums) { c.PublicKeys[0].Armored = "" }, "signing key 1 of the registry"},
		"key is another block":    {func(c *checksums) { c.PublicKeys[0].Armored = partners.TrustSignature(publisher) }, `"PGP SIGNATURE" block`},
		"first key is broken":     {func(c *checksums) { c.PublicKeys = publicKeys{{}, c.PublicKeys[0]} }, "signing key 1 of the registry"},
		"product's key is broken": {func(c *checksums) { c.Keys.Official = "broken" }, "the official signing key"},
		"partner key is broken":   {func(c *checksums) { c.Keys.Partner = "broken" }, "the partner programme's key"},
		"trust signature is none": {func(c *checksums) { c.PublicKeys[0].TrustSignature = "yes" }, "the trust signature of signing key " + publisher.KeyID()},
		"trust in another's key": {func(c *checksums) {
			c.PublicKeys[0].TrustSignature = partners.TrustSignature(revoked)
		}, "the trust signature of signing key " + publisher.KeyID()},
		"trust by somebody else": {func(c *checksums) {
			c.PublicKeys[0].TrustSignature = publisher.TrustSignature(publisher)
		}, "unknown entity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checksums, digests := released(publisher, getproviders.PublicKey{
				Armored: publisher.Armored(), TrustSignature: partners.TrustSignature(publisher),
			})
			checksums.Keys = product
			test.change(&checksums)
			_, err := checksums.Authenticate(digests)
			wantAuthenticationError(t, err, "invalid_signature", test.want)
		})
	}
}

// TestSignature_Expired_IsNotedOrRefused has what Terraform accepts, and OpenTofu with and without the variable for expired
// keys.
func TestSignature_Expired_IsNotedOrRefused(t *testing.T) {
	t.Parallel()
	const day, refused = 24 * time.Hour, "expired (this machine's clock says 2000-01-01)"
	gone := providertest.SignerOptions{Lifetime: 30 * day}
	lapsing := providertest.SignerOptions{SignatureLifetime: 30 * day}
	future := providertest.SignerOptions{SignedAt: present.Add(2 * day)}
	for name, test := range map[string]struct {
		opts   providertest.SignerOptions
		expiry getproviders.Expiry
		want   string // of the error or the note; "" for none; %s is the key's ID
		beside *providertest.Signer
	}{
		"still valid":                          {opts: providertest.SignerOptions{Lifetime: 1000 * day}},
		"a key that expired after signing":     {opts: gone, want: "signing key %s expired on 1999-01-31; the signature is of 1999-01-08"},
		"a key that expired before signing":    {opts: providertest.SignerOptions{Lifetime: 30 * day, SignedAt: yearAgo.Add(60 * day)}, want: "signing key %s expired on 1999-01-31; the signature is of 1999-03-02"},
		"a key of the future":                  {opts: providertest.SignerOptions{Created: present.Add(2 * day), SignedAt: present.Add(3 * day)}, want: "signing key %s was made on 2000-01-03, which is in the future by this machine's clock"},
		"an expired signature":                 {opts: lapsing, want: refused},
		"an expired signature by an older key": {opts: providertest.SignerOptions{SignatureLifetime: 30 * day, Lifetime: 60 * day}, want: refused},
		"an expired signature by an equal key": {opts: providertest.SignerOptions{SignatureLifetime: 30 * day, Lifetime: 30 * day}, want: refused},
		"a signature of the future":            {opts: future, want: refused},
		"OpenTofu, good":                       {expiry: getproviders.ExpiredNothing},
		"OpenTofu, an expired key":             {opts: gone, expiry: getproviders.ExpiredNothing, want: "openpgp: key expired"},
		"OpenTofu, an expired signature":       {opts: lapsing, expiry: getproviders.ExpiredNothing, want: refused},
		"allowed, an expired key":              {opts: gone, expiry: getproviders.ExpiredAll, want: "signing key %s expired on 1999-01-31; the signature is of 1999-01-08"},
		"allowed, an expired signature":        {opts: lapsing, expiry: getproviders.ExpiredAll, want: "the signature of 1999-01-08 has expired"},
		"allowed, a signature of the future":   {opts: future, expiry: getproviders.ExpiredAll, want: refused},
		"allowed, another key is the expired":  {expiry: getproviders.ExpiredAll, beside: signerWith(t, gone)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			publisher := signerWith(t, test.opts)
			keys := publicKeys{publicKey(publisher)}
			if test.beside != nil {
				keys = append(publicKeys{publicKey(test.beside)}, keys...)
			}
			checksums, digests := released(publisher, keys...)
			checksums.Expiry = test.expiry
			var got getproviders.AuthenticationResult
			var err error
			synctest.Test(t, func(*testing.T) { got, err = checksums.Authenticate(digests) })
			if err != nil {
				wantAuthenticationError(t, err, "invalid_signature", cmp.Or(test.want, "no error"))
				return
			}
			must.Equal(t, got.TrustLevel, getproviders.LevelCommunity, err)
			must.Equal(t, strings.Join(got.Notes, "; "), strings.Replace(test.want, "%s", publisher.KeyID(), 1))
		})
	}
}

func TestSignature_Expired_PartnerKeyIsNotedToo(t *testing.T) {
	t.Parallel()
	publisher := newSigner(t)
	partners := signerWith(t, providertest.SignerOptions{Lifetime: 30 * 24 * time.Hour})
	checksums, digests := released(publisher, getproviders.PublicKey{
		Armored: publisher.Armored(), TrustSignature: partners.TrustSignature(publisher),
	})
	checksums.Keys.Partner = partners.Armored()
	got := must.Get(checksums.Authenticate(digests))(t)
	must.Equal(t, got.TrustLevel, getproviders.LevelPartner)
	must.Len(t, got.Notes, 1)
	must.Contain(t, got.Notes[0], partners.KeyID()+" expired on")
}
