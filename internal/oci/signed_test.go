package oci

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/internal/remote"
)

func newSigner() *providertest.Signer {
	return providertest.NewSigner(providertest.SignerOptions{})
}

// signedBy returns a publisher's signed list of a version's archives by their platforms.
func signedBy(signer *providertest.Signer, v getproviders.Version, archives map[getproviders.Platform]string) *getproviders.SignedDocuments {
	var list strings.Builder
	for plat, content := range archives {
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256([]byte(content)), widget.PackedName(v, plat))
	}
	return &getproviders.SignedDocuments{Sums: []byte(list.String()), Signature: signer.Sign([]byte(list.String())), Keys: []getproviders.PublicKey{{Armored: signer.Armored()}}}
}

// authenticated returns the result of a source with these signers for a package, without a lock
// file.
func (s started) authenticated(t *testing.T, plat getproviders.Platform, content string, keys ...*providertest.Signer) (getproviders.AuthenticationResult, getproviders.Trust) {
	t.Helper()
	source := *s.source
	for _, key := range keys {
		source.Signers.Trusted = append(source.Signers.Trusted, getproviders.TrustedKey{Armored: key.Armored()})
	}
	pkg := must.Get(source.Package(t.Context(), widget, v1, plat))(t)
	trust := must.Get(pkg.Trust.Loaded(t.Context()))(t)
	result := must.Get(trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sha256.Sum256([]byte(content))}))(t)
	return result, trust
}

// TestPush_SignedListsCountAsFromARegistry lets a reader without a lock file determine the signer, and the hashes of
// all platforms.
func TestPush_SignedListsCountAsFromARegistry(t *testing.T) {
	t.Parallel()
	s, signer, other := start(t, false), newSigner(), newSigner()
	signed := signedBy(signer, v1, map[getproviders.Platform]string{linux: "archive one", windows: "archive two"})
	push := func(signed *getproviders.SignedDocuments, targets ...remote.Release) {
		t.Helper()
		pushed := release("1.0.0", targets...)
		pushed.Signed = signed
		must.Succeed(t, s.client.Push(t.Context(), s.at, pushed))
	}
	isSigned := func() bool {
		_, signed, err := s.client.Pushed(t.Context(), s.at, v1)
		return noError(signed, err)
	}
	push(nil, target(linux, "archive one"))
	if isSigned() {
		t.Error("nothing was signed")
	}
	push(signed) // the archive is there already
	if result, trust := s.authenticated(t, linux, "archive one", signer); result.TrustLevel != getproviders.LevelCommunity || len(result.Signed) != 2 || trust.Documents == nil || len(trust.ListedHashes) != 2 {
		t.Errorf("%+v; %+v", result, trust)
	}
	for name, keys := range map[string][]*providertest.Signer{"no key": nil, "another key": {other}} {
		if result, trust := s.authenticated(t, linux, "archive one", keys...); result.TrustLevel != getproviders.LevelVerifiedChecksum || len(result.Signed) != 1 || trust.Documents != nil {
			t.Errorf("with %s: %+v", name, result)
		}
	}
	before := s.files(t)
	withoutKeys := *signed
	withoutKeys.Keys = nil
	push(&withoutKeys, target(linux, "archive one"))
	must.Len(t, s.files(t), len(before))
	push(nil, target(windows, "archive two"))
	result, _ := s.authenticated(t, windows, "archive two", signer)
	must.Equal(t, result.TrustLevel, getproviders.LevelCommunity, "an archive that came later")
	push(nil, target(plan9, "archive three")) // which the list doesn't have
	if isSigned() {
		t.Error("a list that isn't true of all archives is still there")
	}
	push(signed, target(plan9, "archive three"))
	if isSigned() {
		t.Error("a list that isn't true of all archives was published")
	}
	must.Len(t, s.platforms(t), 3)
}

// TestSource_RefusesWhatDoesNotFitItsSignature has a list, signed by a trusted key, that contradicts the archive,
// and changed and missing files of the list.
func TestSource_RefusesWhatDoesNotFitItsSignature(t *testing.T) {
	t.Parallel()
	s, signer := start(t, false), newSigner()
	s.source.Signers.Trusted = []getproviders.TrustedKey{{Armored: signer.Armored()}}
	signed := signedBy(signer, v1, map[getproviders.Platform]string{linux: "archive one"})
	loaded := func() (getproviders.Trust, error) {
		t.Helper()
		pkg := must.Get(s.source.Package(t.Context(), widget, v1, linux))(t)
		return pkg.Trust.Loaded(t.Context())
	}
	forged := *signed
	forged.Sums = append([]byte("# more\n"), signed.Sums...)
	must.Succeed(t, s.client.Push(t.Context(), s.at, Release{Provider: widget, Version: v1, Targets: []remote.Release{target(linux, "archive one")}, Signed: &forged}))
	must.Fail(t, must.ErrorOf(loaded()), getproviders.ErrAuthentication, "another list than the one that was signed")
	must.Succeed(t, s.client.Push(t.Context(), s.at, Release{Provider: widget, Version: v1, Signed: signed}))
	trust := must.Get(loaded())(t)
	must.Fail(t, must.ErrorOf(trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sha256.Sum256([]byte("other"))})), getproviders.ErrAuthentication)
	blob := func(content []byte) string {
		sum := sha256.Sum256(content)
		digest := hex.EncodeToString(sum[:])
		return filepath.Join(s.Dir, "data/docker/registry/v2/blobs/sha256", digest[:2], digest, "data")
	}
	must.Succeed(t, os.WriteFile(blob(signed.Sums), []byte("x"), 0o600))
	must.Refuse(loaded())(t)
	must.Succeed(t, os.Remove(blob(signed.Signature)))
	if trust, err := loaded(); err != nil || trust.Documents != nil {
		t.Errorf("a signature that isn't there: %+v, %v", trust, err)
	}
}
