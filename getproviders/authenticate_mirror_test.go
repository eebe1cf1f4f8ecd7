package getproviders_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
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

// The names of a version's files in a mirror.
const (
	sumsName = "terraform-provider-widget_1.0.0_SHA256SUMS"
	sigName  = sumsName + ".sig"
	keysName = sumsName + ".keys.json"
	zipName  = "terraform-provider-widget_1.0.0_linux_amd64.zip"
)

// signedMirror is a mirror of one package, with its signed documents.
type signedMirror struct {
	dir      string // of the provider
	signers  getproviders.Signers
	official *providertest.Signer
	partners *providertest.Signer // the partner programme's
	partner  *providertest.Signer
	known    *providertest.Signer // keys that the user names
	stranger *providertest.Signer
	trust    string // the trust signature of a partner's key
}

func newSignedMirror(t *testing.T) *signedMirror {
	t.Helper()
	m := &signedMirror{dir: filepath.Join(t.TempDir(), "registry.example", "acme", "widget")}
	for _, signer := range []**providertest.Signer{&m.official, &m.partners, &m.partner, &m.known, &m.stranger} {
		var err error
		if *signer, err = providertest.NewSigner(providertest.SignerOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	m.signers = getproviders.Signers{
		Trusted: []getproviders.TrustedKey{{Armored: m.known.Armored(), Providers: []getproviders.Pattern{getproviders.Pattern(widget)}}},
	}.WithKeys(getproviders.SigningKeys{Official: m.official.Armored(), Partner: m.partners.Armored()})
	m.write(t, zipName, providertest.Zip(map[string]string{"terraform-provider-widget": "x"}))
	m.write(t, "1.0.0.json", []byte(`{"archives": {"linux_amd64": {"url": "`+zipName+`", "hashes": ["h1:listed"]}}}`))
	m.write(t, "index.json", []byte(`{"versions": {"1.0.0": {}}}`))
	m.sign(t, m.known, m.sums(t))
	return m
}

func (m *signedMirror) write(t *testing.T, name string, content []byte) {
	t.Helper()
	must.Write(t, filepath.Join(m.dir, name), content)
}

func (m *signedMirror) read(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(m.dir, name)))(t)
}

// sums is a true list of checksums: of a package for another platform, and of this one.
func (m *signedMirror) sums(t *testing.T) string {
	return fmt.Sprintf("%x  terraform-provider-widget_1.0.0_darwin_arm64.zip\n%x  %s\n", sha256.Sum256(nil), m.sum(t), zipName)
}

func (m *signedMirror) sum(t *testing.T) [32]byte { return sha256.Sum256(m.read(t, zipName)) }

// sign writes a list, a signature, and a file with the signer's key and all other keys that are
// said to be the signer's.
func (m *signedMirror) sign(t *testing.T, by *providertest.Signer, sums string) {
	m.write(t, sumsName, []byte(sums))
	m.write(t, sigName, by.Sign([]byte(sums)))
	m.introduce(t, by, "")
}

func (m *signedMirror) introduce(t *testing.T, key *providertest.Signer, trust string) {
	m.introduceBlock(t, key.Armored(), trust)
}

func (m *signedMirror) introduceBlock(t *testing.T, block, trust string) {
	file := must.Get(json.Marshal(map[string]any{"gpg_public_keys": []any{map[string]string{"ascii_armor": block, "trust_signature": trust}}}))(t)
	m.write(t, keysName, file)
}

// judge authenticates the archive from both kinds of mirrors, and returns the result; "" if no
// signature counts.
func (m *signedMirror) judge(t *testing.T) map[string]string {
	t.Helper()
	network, _ := m.network(t, terraform)
	digests := getproviders.Digests{SHA256: m.sum(t), H1: "h1:listed"}
	return map[string]string{
		"filesystem": judgedFrom(t, &getproviders.FilesystemMirrorSource{Dir: m.root(), Signers: m.signers}, digests),
		"network":    judgedFrom(t, network, digests),
	}
}

func (m *signedMirror) root() string { return filepath.Dir(filepath.Dir(filepath.Dir(m.dir))) }

// network is the mirror as a server has it.
func (m *signedMirror) network(t *testing.T, product getproviders.Product) (*getproviders.NetworkMirrorSource, *providertest.Server) {
	t.Helper()
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Handler: http.FileServer(http.Dir(m.root()))}))(t)
	t.Cleanup(server.Close)
	source := must.Get(getproviders.NewNetworkMirrorSource(server.BaseURL()+"/", server.Client(), nil, product))(t)
	source.Signers = m.signers
	return source, server
}

// A signature that a program which lives long has accepted expires nevertheless.
func TestNetworkMirror_ForgetsSignaturesThatExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newSignedMirror(t)
		lapsing := must.Get(providertest.NewSigner(providertest.SignerOptions{SignatureLifetime: time.Hour}))(t)
		m.sign(t, lapsing, m.sums(t))
		mirror := must.Get(getproviders.NewNetworkMirrorSource("https://mirror.example/", &http.Client{Transport: inProcess{http.FileServer(http.Dir(m.root()))}}, nil, getproviders.Terraform("1.15.9")))(t)
		mirror.Signers = getproviders.Signers{Trusted: []getproviders.TrustedKey{{Armored: lapsing.Armored()}}}
		digests := getproviders.Digests{SHA256: m.sum(t), H1: "h1:listed"}
		must.Contain(t, judgedFrom(t, mirror, digests), lapsing.KeyID())
		time.Sleep(2 * time.Hour)
		must.Contain(t, judgedFrom(t, mirror, digests), "expired")
	})
}

func judgedFrom(t *testing.T, source getproviders.Source, digests getproviders.Digests) string {
	t.Helper()
	found, err := packageOf(t, source)
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

// TestSignature_InMirrors has a row for each thing that a mirror may have, or claim to have. A
// list that no trusted key has signed is as good as none; contradicting a list that such a key has
// signed is an error.
func TestSignature_InMirrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(t *testing.T, m *signedMirror)
		want   string // "KEY" is the ID of the key that the user names; what stands after "error: " is part of one
	}{
		"by a key that the user names": {func(*testing.T, *signedMirror) {}, "self-signed KEY, 2 hashes"},
		"by the official key":          {func(t *testing.T, m *signedMirror) { m.sign(t, m.official, m.sums(t)) }, "signed by HashiCorp , 2 hashes"},
		"by the official key, which isn't in the mirror": {func(t *testing.T, m *signedMirror) {
			m.sign(t, m.official, m.sums(t))
			m.remove(t, keysName)
		}, "signed by HashiCorp , 2 hashes"},

		"nothing":       {func(t *testing.T, m *signedMirror) { m.remove(t, sumsName, sigName, keysName) }, ""},
		"no list":       {func(t *testing.T, m *signedMirror) { m.remove(t, sumsName) }, ""},
		"no signature":  {func(t *testing.T, m *signedMirror) { m.remove(t, sigName) }, ""},
		"by a stranger": {func(t *testing.T, m *signedMirror) { m.sign(t, m.stranger, m.sums(t)) }, ""},
		"by a stranger, who is wrong": {func(t *testing.T, m *signedMirror) {
			m.sign(t, m.stranger, strings.Repeat("0", 64)+"  "+zipName+"\n")
		}, ""},
		"by a stranger, who vouches for himself": {func(t *testing.T, m *signedMirror) {
			m.sign(t, m.stranger, m.sums(t))
			m.introduce(t, m.stranger, m.stranger.TrustSignature(m.stranger))
		}, ""},
		"by a stranger, with a partner's introduction": {func(t *testing.T, m *signedMirror) {
			m.sign(t, m.stranger, m.sums(t))
			m.introduce(t, m.stranger, m.partners.TrustSignature(m.partner))
		}, ""},
		"by a partner, who isn't introduced": {func(t *testing.T, m *signedMirror) { m.sign(t, m.partner, m.sums(t)) }, ""},
		"by a key for other providers": {func(_ *testing.T, m *signedMirror) {
			m.signers.Trusted[0].Providers = []getproviders.Pattern{{Hostname: "*", Namespace: "acme", Type: "gadget"}}
		}, ""},
		"the signature is a page": {func(t *testing.T, m *signedMirror) { m.write(t, sigName, []byte("<html>")) }, ""},
		"the signature is huge":   {func(t *testing.T, m *signedMirror) { m.write(t, sigName, make([]byte, 1<<20)) }, ""},
		"the list is huge":        {func(t *testing.T, m *signedMirror) { m.write(t, sumsName, bytes.Repeat([]byte("\n"), 2<<20)) }, ""},
		"the keys are a page":     {func(t *testing.T, m *signedMirror) { m.write(t, keysName, []byte("<html>")) }, "self-signed KEY, 2 hashes"},
		"the keys are of no use": {func(t *testing.T, m *signedMirror) {
			m.write(t, keysName, []byte(`{"gpg_public_keys": [{}, {"ascii_armor": "x"}]}`))
		}, "self-signed KEY, 2 hashes"},
		"the keys are huge":         {func(t *testing.T, m *signedMirror) { m.write(t, keysName, make([]byte, 2<<20)) }, "self-signed KEY, 2 hashes"},
		"the signature is a folder": {func(t *testing.T, m *signedMirror) { m.remove(t, sigName); m.write(t, sigName+"/x", nil) }, ""},

		"another list": {func(t *testing.T, m *signedMirror) {
			m.write(t, sumsName, append(m.read(t, sumsName), ' '))
		}, "error: can't verify the signature of the checksum list: openpgp: invalid signature: "},
		"another archive": {func(t *testing.T, m *signedMirror) { m.write(t, zipName, []byte("evil")) },
			"error: the package has checksum zh:b5c1fb2efc6d6b4674c2fdcc48ce01b43a3b7c03763c0c3355de0099ee0f8c73, expected zh:"},
		"the list of another version": {func(t *testing.T, m *signedMirror) {
			m.sign(t, m.known, strings.ReplaceAll(m.sums(t), "_1.0.0_", "_0.9.0_"))
		}, `error: the checksum list has no SHA-256 for "terraform-provider-widget_1.0.0_linux_amd64.zip", expected zh:`},
		"the list of another provider": {func(t *testing.T, m *signedMirror) {
			m.sign(t, m.known, strings.ReplaceAll(m.sums(t), "-widget_", "-gadget_"))
		}, `error: the checksum list has no SHA-256 for "terraform-provider-widget_1.0.0_linux_amd64.zip", expected zh:`},
		"the archive of another platform": {func(t *testing.T, m *signedMirror) { m.write(t, zipName, nil) },
			"error: the package has checksum zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, expected zh:"},
		"no checksum": {func(t *testing.T, m *signedMirror) { m.sign(t, m.known, "yes  "+zipName+"\n") },
			`error: the checksum list has "yes" for "terraform-provider-widget_1.0.0_linux_amd64.zip", expected zh:`},
		"a revoked key": {func(_ *testing.T, m *signedMirror) {
			m.known.Revoke()
			m.signers.Trusted[0].Armored = m.known.Armored()
		}, "error: can't verify the signature of the checksum list: openpgp: signature made by revoked key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSignedMirror(t)
			c.change(t, m)
			want := strings.NewReplacer("KEY", m.known.KeyID(), "PARTNER", m.partner.KeyID()).Replace(c.want)
			for kind, got := range m.judge(t) {
				fails, isError := strings.CutPrefix(want, "error: ")
				if got != want && !(isError && strings.Contains(got, fails)) {
					t.Errorf("%s: judged %q, want %q", kind, got, want)
				}
			}
		})
	}
}

func (m *signedMirror) remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		must.Succeed(t, os.Remove(filepath.Join(m.dir, name)))
	}
}

func TestSignature_InMirrorsMayBeLinksToFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links take a privilege on Windows")
	}
	m := newSignedMirror(t)
	elsewhere := filepath.Join(t.TempDir(), "sig")
	must.Succeed(t, os.Rename(filepath.Join(m.dir, sigName), elsewhere))
	for target, want := range map[string]string{elsewhere: "self-signed " + m.known.KeyID() + ", 2 hashes", os.DevNull: "", t.TempDir(): "", "nowhere": ""} {
		must.Succeed(t, os.Symlink(target, filepath.Join(m.dir, sigName)))
		must.Equal(t, m.judge(t)["filesystem"], want, target)
		m.remove(t, sigName)
	}
}

// What a mirror itself says of an archive is worth nothing beside a list that a publisher has signed: neither does its checksum stay among
// the hashes that are listed, nor do hashes that a mirror is believed count as signed.
func TestSignature_InMirrorsGoesBeforeWhatTheMirrorLists(t *testing.T) {
	t.Parallel()
	const forged, otherForged = "zh:" + "00000000000000000000000000000000000000000000000000000000000000aa", "h1:forged"
	m := newSignedMirror(t)
	m.write(t, "1.0.0.json", []byte(`{"archives": {"linux_amd64": {"url": "`+zipName+`", "hashes": ["h1:listed", "`+forged+`"]}, "windows_amd64": {"url": "w.zip", "hashes": ["`+otherForged+`"]}}}`))
	for name, product := range map[string]getproviders.Product{"as Terraform": terraform, "as OpenTofu": getproviders.OpenTofu("1.12.6")} {
		for _, believed := range []bool{false, true} {
			source, _ := m.network(t, product)
			source.TrustAllHashes = believed
			trust := must.Get(must.Get(packageOf(t, source))(t).Trust.Loaded(t.Context()))(t)
			signed := getproviders.ZH(m.sum(t))
			must.EqualSlices(t, hashing.Sort(trust.ListedHashes), []getproviders.Hash{"h1:listed", signed}, name, believed)
			result, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: m.sum(t), H1: "h1:listed"})
			if err != nil || len(result.Signed) != 2 || slices.Contains(result.Signed, forged) || slices.Contains(result.Signed, otherForged) {
				t.Errorf("%s, believed %t: signed %q, want the two of the list (%v)", name, believed, result.Signed, err)
			}
		}
	}
}

// TestAuthenticate_MirrorsAreAskedForDocumentsOnce counts requests for documents, to a mirror that
// has them and to one that hasn't, by packages of several platforms.
func TestAuthenticate_MirrorsAreAskedForDocumentsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sign func(t *testing.T, m *signedMirror)
		asks int
	}{
		"none":         {func(t *testing.T, m *signedMirror) { m.remove(t, sumsName, sigName, keysName) }, 1},
		"official":     {func(t *testing.T, m *signedMirror) { m.sign(t, m.official, m.sums(t)) }, 2},
		"another's":    {func(*testing.T, *signedMirror) {}, 3},
		"no signature": {func(t *testing.T, m *signedMirror) { m.remove(t, sigName) }, 1},
		"no partner key": {func(_ *testing.T, m *signedMirror) {
			m.name(m.partner, getproviders.Pattern(widget))
			m.signers = m.signers.WithKeys(getproviders.SigningKeys{Official: m.official.Armored()})
		}, 2},
		"a partner is named":   {func(_ *testing.T, m *signedMirror) { m.name(m.partner, getproviders.Pattern(widget)) }, 3},
		"for another provider": {func(_ *testing.T, m *signedMirror) { m.name(m.partner, gadgets) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := newSignedMirror(t)
			c.sign(t, m)
			source, server := m.network(t, terraform)
			for range 3 {
				judgedFrom(t, source, getproviders.Digests{SHA256: m.sum(t), H1: "h1:listed"})
			}
			asked := 0
			for _, req := range server.Log() {
				if strings.Contains(req.Path, sumsName) {
					asked++
				}
			}
			must.Equal(t, asked, c.asks)
		})
	}
}
