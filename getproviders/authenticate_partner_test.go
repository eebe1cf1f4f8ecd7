package getproviders_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// gadgets is a pattern that doesn't match the provider of a signedMirror.
var gadgets = getproviders.Pattern{Hostname: "registry.example", Namespace: "acme", Type: "gadget"}

// name configures a partner's key by its ID, as the user.
func (m *signedMirror) name(partner *providertest.Signer, patterns ...getproviders.Pattern) {
	m.signers.Trusted = append(m.signers.Trusted, getproviders.TrustedKey{PartnerID: partner.KeyID(), Providers: patterns})
}

// TestSignature_PartnersKeysInMirrors: a partner attacks a provider of another namespace, by a
// mirror of their own or by documents in another one. The trust signature proves only that the key
// is a partner's.
func TestSignature_PartnersKeysInMirrors(t *testing.T) {
	t.Parallel()
	widgets := getproviders.Pattern(widget)
	byPartner := "signed by a HashiCorp partner PARTNER, 2 hashes"
	for name, c := range map[string]struct {
		change func(m *signedMirror)
		want   string
	}{
		"no one has named it":              {func(*signedMirror) {}, ""},
		"it is named":                      {func(m *signedMirror) { m.name(m.partner, widgets) }, byPartner},
		"it is named in lower case":        {func(m *signedMirror) { m.name(m.partner, widgets); m.lower() }, byPartner},
		"it is named for others":           {func(m *signedMirror) { m.name(m.partner, gadgets) }, ""},
		"it is named for no provider":      {func(m *signedMirror) { m.name(m.partner) }, ""},
		"another one is named":             {func(m *signedMirror) { m.name(m.stranger, widgets) }, ""},
		"both are named, for one each":     {func(m *signedMirror) { m.name(m.partner, gadgets); m.name(m.stranger, widgets) }, ""},
		"it isn't introduced":              {func(m *signedMirror) { m.name(m.partner, widgets); m.trust = "" }, ""},
		"its introduction is of another":   {func(m *signedMirror) { m.name(m.partner, widgets); m.trust = m.partners.TrustSignature(m.stranger) }, ""},
		"it is introduced by itself":       {func(m *signedMirror) { m.name(m.partner, widgets); m.trust = m.partner.TrustSignature(m.partner) }, ""},
		"a whole key is named for another": {func(m *signedMirror) { m.signers.Trusted[0].Providers[0] = gadgets }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSignedMirror(t)
			m.trust = m.partners.TrustSignature(m.partner)
			c.change(m)
			m.sign(m.partner)
			m.introduce(m.partner, m.trust)
			m.wantJudged(c.want)
		})
	}
}

// TestSignature_AllPartnersKeysOfABlockAreNamed: a block has two keys that the partner programme has signed together. The user configures
// one by its ID; the other one may be anybody's.
func TestSignature_AllPartnersKeysOfABlockAreNamed(t *testing.T) {
	t.Parallel()
	widgets := getproviders.Pattern(widget)
	for name, c := range map[string]struct {
		change func(m *signedMirror)
		want   string
	}{
		"one is named":           {func(m *signedMirror) { m.name(m.partner, widgets) }, ""},
		"both are named":         {func(m *signedMirror) { m.name(m.partner, widgets); m.name(m.stranger, widgets) }, "signed by a HashiCorp partner STRANGER, 2 hashes"},
		"one is named for other": {func(m *signedMirror) { m.name(m.partner, widgets); m.name(m.stranger, gadgets) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSignedMirror(t)
			c.change(m)
			m.sign(m.stranger)
			both, trust := &pgp{}, &pgp{}
			for _, key := range []*providertest.Signer{m.partner, m.stranger} {
				block := must.Get(armor.Decode(strings.NewReader(key.Armored())))(t)
				must.Get(both.ReadFrom(block.Body))(t)
			}
			trust.Write(m.partners.Sign(both.Bytes()))
			m.introduceBlock(both.armored(openpgp.PublicKeyType), trust.armored(openpgp.SignatureType))
			m.wantJudged(c.want)
		})
	}
}

// lower returns the setting with the last ID in lower case.
func (m *signedMirror) lower() {
	last := &m.signers.Trusted[len(m.signers.Trusted)-1]
	last.PartnerID = strings.ToLower(last.PartnerID)
}

func TestTrustedKey_Check(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key  getproviders.TrustedKey
		want string
	}{
		"named":           {getproviders.TrustedKey{PartnerID: "34365D9472D7468F", Providers: []getproviders.Pattern{gadgets}}, "<nil>"},
		"for no provider": {getproviders.TrustedKey{PartnerID: "34365D9472D7468F"}, "without the providers that it may sign"},
		"too short":       {getproviders.TrustedKey{PartnerID: "72D7468F", Providers: []getproviders.Pattern{gadgets}}, "isn't the ID of a key"},
		"no digits":       {getproviders.TrustedKey{PartnerID: "34365D9472D7468G", Providers: []getproviders.Pattern{gadgets}}, "isn't the ID of a key"},
		"both":            {getproviders.TrustedKey{PartnerID: "34365D9472D7468F", Armored: "x", Providers: []getproviders.Pattern{gadgets}}, "both by its ID and in full"},
		"neither":         {getproviders.TrustedKey{}, "no ASCII-armored block"},
	} {
		must.Contain(t, fmt.Sprint(c.key.Check()), c.want, name)
	}
}
