package getproviders_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// The names of the files of a version in a mirror.
const (
	sumsName = "terraform-provider-widget_1.0.0_SHA256SUMS"
	sigName  = sumsName + ".sig"
	keysName = sumsName + ".keys.json"
	zipName  = "terraform-provider-widget_1.0.0_linux_amd64.zip"
)

// signedMirror is a mirror of one package, with its signed documents.
type signedMirror struct {
	t        *testing.T
	dir      string // the provider's directory
	signers  getproviders.Signers
	official *providertest.Signer
	partners *providertest.Signer // the partner programme's signer
	partner  *providertest.Signer
	known    *providertest.Signer // keys that the user configured
	stranger *providertest.Signer
	trust    string // the trust signature of a partner's key
}

func newSignedMirror(t *testing.T) *signedMirror {
	t.Helper()
	m := &signedMirror{t: t, dir: filepath.Join(t.TempDir(), "registry.example", "acme", "widget")}
	for _, signer := range []**providertest.Signer{&m.official, &m.partners, &m.partner, &m.known, &m.stranger} {
		*signer = providertest.NewSigner(providertest.SignerOptions{})
	}
	m.signers = getproviders.Signers{
		Trusted: []getproviders.TrustedKey{{Armored: m.known.Armored(), Providers: []getproviders.Pattern{getproviders.Pattern(widget)}}},
	}.WithKeys(getproviders.SigningKeys{Official: m.official.Armored(), Partner: m.partners.Armored()})
	m.write(zipName, providertest.Zip(map[string]string{"terraform-provider-widget": "x"}))
	m.write("1.0.0.json", []byte(`{"archives": {"linux_amd64": {"url": "`+zipName+`", "hashes": ["h1:listed"]}}}`))
	m.write("index.json", []byte(`{"versions": {"1.0.0": {}}}`))
	m.sign(m.known)
	return m
}

func (m *signedMirror) write(name string, content []byte) {
	m.t.Helper()
	must.Write(m.t, filepath.Join(m.dir, name), content)
}

func (m *signedMirror) read(name string) []byte {
	m.t.Helper()
	return must.Get(os.ReadFile(filepath.Join(m.dir, name)))(m.t)
}

// sums returns the true checksum list: of a package for another platform, and of this one.
func (m *signedMirror) sums() string {
	return fmt.Sprintf("%x  terraform-provider-widget_1.0.0_darwin_arm64.zip\n%x  %s\n", sha256.Sum256(nil), m.sum(), zipName)
}

func (m *signedMirror) digests() getproviders.Digests {
	return getproviders.Digests{SHA256: m.sum(), H1: "h1:listed"}
}

func (m *signedMirror) sum() [32]byte { return sha256.Sum256(m.read(zipName)) }

// sign writes the true list, a signature, and a file with the signer's key and further keys that claim
// to be the signer's.
func (m *signedMirror) sign(by *providertest.Signer) { m.signList(by, m.sums()) }

func (m *signedMirror) signList(by *providertest.Signer, sums string) {
	m.write(sumsName, []byte(sums))
	m.write(sigName, by.Sign([]byte(sums)))
	m.introduce(by, "")
}

func (m *signedMirror) introduce(key *providertest.Signer, trust string) {
	m.introduceBlock(key.Armored(), trust)
}

func (m *signedMirror) introduceBlock(block, trust string) {
	file := must.Get(json.Marshal(map[string]any{"gpg_public_keys": []any{map[string]string{"ascii_armor": block, "trust_signature": trust}}}))(m.t)
	m.write(keysName, file)
}

// wantJudged authenticates the archive from both kinds of mirrors. In want, "KEY" means the ID of the user's key, the text after "error: " is a
// part of the error, and "" means that no signature is used.
func (m *signedMirror) wantJudged(want string) {
	m.t.Helper()
	network, _ := m.network(terraform)
	want = strings.NewReplacer("KEY", m.known.KeyID(), "PARTNER", m.partner.KeyID(), "STRANGER", m.stranger.KeyID()).Replace(want)
	fails, isError := strings.CutPrefix(want, "error: ")
	for _, source := range []getproviders.Source{&getproviders.FilesystemMirrorSource{Dir: m.root(), Signers: m.signers}, network} {
		if got := judgedFrom(m.t, source, m.digests()); got != want && !(isError && strings.Contains(got, fails)) {
			m.t.Errorf("%T: judged %q, want %q", source, got, want)
		}
	}
}

func (m *signedMirror) root() string { return filepath.Dir(filepath.Dir(filepath.Dir(m.dir))) }

// network returns the mirror as a network mirror.
func (m *signedMirror) network(product getproviders.Product) (*getproviders.NetworkMirrorSource, *providertest.Server) {
	m.t.Helper()
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Handler: http.FileServer(http.Dir(m.root()))}))(m.t)
	m.t.Cleanup(server.Close)
	source := must.Get(getproviders.NewNetworkMirrorSource(server.BaseURL()+"/", server.Client(), nil, product))(m.t)
	source.Signers = m.signers
	return source, server
}

// A signature that a long-running program has accepted expires nevertheless.
func TestNetworkMirror_ForgetsSignaturesThatExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newSignedMirror(t)
		lapsing := providertest.NewSigner(providertest.SignerOptions{SignatureLifetime: time.Hour})
		m.sign(lapsing)
		mirror := must.Get(getproviders.NewNetworkMirrorSource("https://mirror.example/", &http.Client{Transport: http.NewFileTransport(http.Dir(m.root()))}, nil, terraform))(t)
		mirror.Signers = getproviders.Signers{Trusted: []getproviders.TrustedKey{{Armored: lapsing.Armored()}}}
		digests := m.digests()
		must.Contain(t, judgedFrom(t, mirror, digests), lapsing.KeyID())
		time.Sleep(2 * time.Hour)
		must.Contain(t, judgedFrom(t, mirror, digests), "expired")
	})
}

func judgedFrom(t *testing.T, source getproviders.Source, digests getproviders.Digests) string {
	t.Helper()
	found, err := source.Package(t.Context(), widget, v1, linux)
	must.Succeed(t, err)
	trust, err := found.Trust.Loaded(t.Context())
	if err == nil && trust.Authenticator == nil {
		return ""
	}
	var result getproviders.AuthenticationResult
	if err == nil {
		result, err = trust.Authenticator.Authenticate(digests)
	}
	if err != nil {
		return err.Error()
	}
	if result.TrustLevel == getproviders.LevelVerifiedChecksum { // by the hashes that a network mirror lists
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s, %d hashes", result.TrustLevel, result.KeyID, len(result.Signed)))
}

func linked(target string) func(m *signedMirror) {
	return func(m *signedMirror) {
		m.remove(sigName)
		if err := must.Symlink(target, filepath.Join(m.dir, sigName)); err != nil {
			m.t.Skip("no symbolic links here: ", err)
		}
	}
}

// TestSignature_InMirrors has a row for each thing that a mirror may have, or claim to have. A list
// without a trusted key's signature is ignored; an archive that contradicts a list with one is an
// error.
func TestSignature_InMirrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(m *signedMirror)
		want   string // as for wantJudged
	}{
		"by a key that the user names": {func(*signedMirror) {}, "self-signed KEY, 2 hashes"},
		"by the official key":          {func(m *signedMirror) { m.sign(m.official) }, "signed by HashiCorp , 2 hashes"},
		"by the official key, which isn't in the mirror": {func(m *signedMirror) {
			m.sign(m.official)
			m.remove(keysName)
		}, "signed by HashiCorp , 2 hashes"},

		"nothing":       {func(m *signedMirror) { m.remove(sumsName, sigName, keysName) }, ""},
		"no list":       {func(m *signedMirror) { m.remove(sumsName) }, ""},
		"no signature":  {func(m *signedMirror) { m.remove(sigName) }, ""},
		"by a stranger": {func(m *signedMirror) { m.sign(m.stranger) }, ""},
		"by a stranger, who is wrong": {func(m *signedMirror) {
			m.signList(m.stranger, strings.Repeat("0", 64)+"  "+zipName+"\n")
		}, ""},
		"by a stranger, who vouches for himself": {func(m *signedMirror) {
			m.sign(m.stranger)
			m.introduce(m.stranger, m.stranger.TrustSignature(m.stranger))
		}, ""},
		"by a stranger, with a partner's introduction": {func(m *signedMirror) {
			m.sign(m.stranger)
			m.introduce(m.stranger, m.partners.TrustSignature(m.partner))
		}, ""},
		"by a partner, who isn't introduced": {func(m *signedMirror) { m.sign(m.partner) }, ""},
		"by a key for other providers": {func(m *signedMirror) {
			m.signers.Trusted[0].Providers = []getproviders.Pattern{{Hostname: "*", Namespace: "acme", Type: "gadget"}}
		}, ""},
		"the signature is a page": {func(m *signedMirror) { m.write(sigName, []byte("<html>")) }, ""},
		"the signature is huge":   {func(m *signedMirror) { m.write(sigName, make([]byte, 1<<20)) }, ""},
		"the list is huge":        {func(m *signedMirror) { m.write(sumsName, bytes.Repeat([]byte("\n"), 2<<20)) }, ""},
		"the keys are a page":     {func(m *signedMirror) { m.write(keysName, []byte("<html>")) }, "self-signed KEY, 2 hashes"},
		"the keys are of no use": {func(m *signedMirror) {
			m.write(keysName, []byte(`{"gpg_public_keys": [{}, {"ascii_armor": "x"}]}`))
		}, "self-signed KEY, 2 hashes"},
		"the keys are huge":         {func(m *signedMirror) { m.write(keysName, make([]byte, 2<<20)) }, "self-signed KEY, 2 hashes"},
		"the signature is a folder": {func(m *signedMirror) { m.remove(sigName); m.write(sigName+"/x", nil) }, ""},
		"the signature is a link to another file": {func(m *signedMirror) {
			m.write("../sig", m.read(sigName))
			linked("../sig")(m)
		}, "self-signed KEY, 2 hashes"},
		"the signature is a link to a device": {linked(os.DevNull), ""},
		"the signature is a link to a folder": {linked("."), ""},
		"the signature is a link to nothing":  {linked("nowhere"), ""},

		"another list": {func(m *signedMirror) {
			m.write(sumsName, append(m.read(sumsName), ' '))
		}, "error: can't verify the signature of the checksum list: openpgp: invalid signature: "},
		"another archive": {func(m *signedMirror) { m.write(zipName, []byte("evil")) },
			"error: the package has checksum zh:b5c1fb2efc6d6b4674c2fdcc48ce01b43a3b7c03763c0c3355de0099ee0f8c73, expected zh:"},
		"the list of another version": {func(m *signedMirror) {
			m.signList(m.known, strings.ReplaceAll(m.sums(), "_1.0.0_", "_0.9.0_"))
		}, `error: the checksum list has no SHA-256 for "terraform-provider-widget_1.0.0_linux_amd64.zip", expected zh:`},
		"the list of another provider": {func(m *signedMirror) {
			m.signList(m.known, strings.ReplaceAll(m.sums(), "-widget_", "-gadget_"))
		}, `error: the checksum list has no SHA-256 for "terraform-provider-widget_1.0.0_linux_amd64.zip", expected zh:`},
		"the archive of another platform": {func(m *signedMirror) { m.write(zipName, nil) },
			"error: the package has checksum zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, expected zh:"},
		"no checksum": {func(m *signedMirror) { m.signList(m.known, "yes  "+zipName+"\n") },
			`error: the checksum list has "yes" for "terraform-provider-widget_1.0.0_linux_amd64.zip", expected zh:`},
		"a revoked key": {func(m *signedMirror) {
			m.known.Revoke()
			m.signers.Trusted[0].Armored = m.known.Armored()
		}, "error: can't verify the signature of the checksum list: openpgp: signature made by revoked key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSignedMirror(t)
			c.change(m)
			m.wantJudged(c.want)
		})
	}
}

func (m *signedMirror) remove(names ...string) {
	m.t.Helper()
	for _, name := range names {
		must.Succeed(m.t, os.Remove(filepath.Join(m.dir, name)))
	}
}

// A mirror's own statements about an archive don't count beside a list that its publisher signed: its checksum isn't among the listed
// hashes, and hashes accepted from the mirror don't count as signed.
func TestSignature_InMirrorsGoesBeforeWhatTheMirrorLists(t *testing.T) {
	t.Parallel()
	const forged, otherForged = "zh:" + "00000000000000000000000000000000000000000000000000000000000000aa", "h1:forged"
	m := newSignedMirror(t)
	m.write("1.0.0.json", []byte(`{"archives": {"linux_amd64": {"url": "`+zipName+`", "hashes": ["h1:listed", "`+forged+`"]}, "windows_amd64": {"url": "w.zip", "hashes": ["`+otherForged+`"]}}}`))
	for name, product := range map[string]getproviders.Product{"as Terraform": terraform, "as OpenTofu": getproviders.OpenTofu("1.12.6")} {
		for _, believed := range []bool{false, true} {
			source, _ := m.network(product)
			source.TrustAllHashes = believed
			trust := must.Get(must.Get(source.Package(t.Context(), widget, v1, linux))(t).Trust.Loaded(t.Context()))(t)
			signed := getproviders.ZH(m.sum())
			must.EqualSlices(t, hashing.Sort(trust.ListedHashes), []getproviders.Hash{"h1:listed", signed}, name, believed)
			result, err := trust.Authenticator.Authenticate(m.digests())
			if err != nil || len(result.Signed) != 2 || slices.Contains(result.Signed, forged) || slices.Contains(result.Signed, otherForged) {
				t.Errorf("%s, believed %t: signed %q, want the two of the list (%v)", name, believed, result.Signed, err)
			}
		}
	}
}

// TestAuthenticate_MirrorsAreAskedForDocumentsOnce counts the requests for documents, to a mirror
// that has them and to one that doesn't, for packages of several platforms.
func TestAuthenticate_MirrorsAreAskedForDocumentsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sign func(m *signedMirror)
		asks int
	}{
		"none":         {func(m *signedMirror) { m.remove(sumsName, sigName, keysName) }, 1},
		"official":     {func(m *signedMirror) { m.sign(m.official) }, 2},
		"another's":    {func(*signedMirror) {}, 3},
		"no signature": {func(m *signedMirror) { m.remove(sigName) }, 1},
		"no partner key": {func(m *signedMirror) {
			m.name(m.partner, getproviders.Pattern(widget))
			m.signers = m.signers.WithKeys(getproviders.SigningKeys{Official: m.official.Armored()})
		}, 2},
		"a partner is named":   {func(m *signedMirror) { m.name(m.partner, getproviders.Pattern(widget)) }, 3},
		"for another provider": {func(m *signedMirror) { m.name(m.partner, gadgets) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSignedMirror(t)
			c.sign(m)
			source, server := m.network(terraform)
			for range 3 {
				judgedFrom(t, source, m.digests())
			}
			must.Equal(t, strings.Count(fmt.Sprint(server.Log()), sumsName), c.asks)
		})
	}
}
