package getproviders

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestAnyHash(t *testing.T) {
	archive := Digests{SHA256: [32]byte{0xab}, H1: "h1:files=", H1Archive: "h1:entries="}
	directory := Digests{H1: "h1:files=", H1Archive: "h1:files="}
	zh := ZH(archive.SHA256)

	for name, test := range map[string]struct {
		hashes  AnyHash
		digests Digests
		wantErr string // "" for none
	}{
		"zh matches":                         {AnyHash{zh}, archive, ""},
		"h1 of the files matches":            {AnyHash{"h1:files="}, archive, ""},
		"h1 of the archive's entries":        {AnyHash{"h1:entries="}, archive, ""},
		"one of several is enough":           {AnyHash{"h1:other=", "h9:new", zh}, archive, ""},
		"h1 of a directory matches":          {AnyHash{"h1:files="}, directory, ""},
		"wrong zh names both":                {AnyHash{"zh:00"}, archive, string(zh) + ", expected zh:00"},
		"wrong h1 names both":                {AnyHash{"h1:other="}, archive, "h1:files=, expected h1:other="},
		"several wrong ones are all named":   {AnyHash{"h1:other=", "zh:00"}, archive, "any of: h1:other=, zh:00"},
		"upper case is another hash":         {AnyHash{Hash("zh:" + strings.ToUpper(string(zh[3:])))}, archive, "expected"},
		"unknown schemes match nothing":      {AnyHash{"h9:new"}, archive, "known scheme"},
		"an empty list lets nothing pass":    {nil, archive, "none"},
		"a directory has no zh, not even 0s": {AnyHash{ZH([32]byte{})}, directory, "expected any of"},
		"no digest matches an empty h1":      {AnyHash{"h1:", ""}, Digests{}, "none, expected"},
	} {
		got, err := test.hashes.Authenticate(test.digests)
		if test.wantErr == "" {
			must.Equal(t, err, nil, name)
			must.DeepEqual(t, got, AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, name)
			continue
		}
		wantAuthenticationError(t, err, "checksum_mismatch", test.wantErr, name)
	}
}

// TestChecksumError_RepeatsLittle: a mirror may list any text as a hash.
func TestChecksumError_RepeatsLittle(t *testing.T) {
	odd := Hash("h1:\x1b[2J" + strings.Repeat("a", 10_000))
	for _, hashes := range []AnyHash{{odd}, {odd, odd}, {"h9:" + odd}, slices.Repeat(AnyHash{odd}, 1000)} {
		_, err := hashes.Authenticate(Digests{H1: "h1:files="})
		if text := err.Error(); len(text) > 2000 || strings.Contains(text, "\x1b") || !strings.Contains(text, `h1:\x1b[2Jaaa`) {
			t.Errorf("%d hashes: %d bytes: %.200q", len(hashes), len(text), text)
		}
	}
}

// wantAuthenticationError checks what callers use: the sentinel, the type, and the text.
func wantAuthenticationError(t *testing.T, err error, code, text string, about ...any) {
	t.Helper()
	must.Fail(t, err, ErrAuthentication, about...)
	must.Equal(t, CodeOf(err), code, about...)
	must.Contain(t, err, text, about...)
}

func TestChecksumError_HintsAtItsCause(t *testing.T) {
	_, damaged := AnyHash{"zh:00", "h9:new"}.Authenticate(Digests{})
	must.Contain(t, strings.Join(HintsOf(damaged), ""), "damaged")
	_, unknown := AnyHash{"h9:new"}.Authenticate(Digests{})
	must.NotContain(t, strings.Join(HintsOf(unknown), ""), "damaged")
}

// TestAuthenticate_PackagesWithoutKeys: if a registry may list no key, its checksum list is
// sufficient, but nothing less.
func TestAuthenticate_PackagesWithoutKeys(t *testing.T) {
	sum := sha256.Sum256([]byte("archive"))
	c := SignedChecksums{
		FileName: "a.zip", SHA256: sum, Sums: fmt.Appendf(nil, "%x  a.zip\n", sum), Keyless: true,
	}
	got := must.Get(c.Authenticate(Digests{SHA256: sum}))(t)
	must.Equal(t, got.TrustLevel, LevelVerifiedChecksum)
	must.Len(t, got.Signed, 1)
	must.Len(t, got.Notes, 1)
	must.Fail(t, must.ErrorOf(c.Authenticate(Digests{SHA256: sha256.Sum256([]byte("another"))})), ErrAuthentication)
	named := c
	named.PublicKeys = []PublicKey{{Armored: "no key"}}
	must.Refuse(named.Authenticate(Digests{SHA256: sum}))(t, "a key is named, and isn't asked for")
	c.Keyless = false
	must.Fail(t, must.ErrorOf(c.Authenticate(Digests{SHA256: sum})), ErrAuthentication)
}

func TestCheckBits_AcceptsBothEnds(t *testing.T) {
	must.Succeed(t, errors.Join(checkBits("RSA", 2048, 2048, 8192), checkBits("RSA", 8192, 2048, 8192)))
}
