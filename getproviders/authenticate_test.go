package getproviders_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestAnyHash(t *testing.T) {
	archive := getproviders.Digests{SHA256: [32]byte{0xab}, H1: "h1:files=", H1Archive: "h1:entries="}
	directory := getproviders.Digests{H1: "h1:files=", H1Archive: "h1:files="}
	zh := getproviders.ZH(archive.SHA256)

	for name, test := range map[string]struct {
		hashes  getproviders.AnyHash
		digests getproviders.Digests
		wantErr string // "" for none
	}{
		"zh matches":                         {getproviders.AnyHash{zh}, archive, ""},
		"h1 of the files matches":            {getproviders.AnyHash{"h1:files="}, archive, ""},
		"h1 of the archive's entries":        {getproviders.AnyHash{"h1:entries="}, archive, ""},
		"one of several is enough":           {getproviders.AnyHash{"h1:other=", "h9:new", zh}, archive, ""},
		"h1 of a directory matches":          {getproviders.AnyHash{"h1:files="}, directory, ""},
		"wrong zh names both":                {getproviders.AnyHash{"zh:00"}, archive, string(zh) + ", expected zh:00"},
		"wrong h1 names both":                {getproviders.AnyHash{"h1:other="}, archive, "h1:files=, expected h1:other="},
		"several wrong ones are all named":   {getproviders.AnyHash{"h1:other=", "zh:00"}, archive, "any of: h1:other=, zh:00"},
		"upper case is another hash":         {getproviders.AnyHash{getproviders.Hash("zh:" + strings.ToUpper(string(zh[3:])))}, archive, "expected"},
		"unknown schemes match nothing":      {getproviders.AnyHash{"h9:new"}, archive, "known scheme"},
		"an empty list lets nothing pass":    {nil, archive, "none"},
		"a directory has no zh, not even 0s": {getproviders.AnyHash{getproviders.ZH([32]byte{})}, directory, "expected any of"},
		"no digest matches an empty h1":      {getproviders.AnyHash{"h1:", ""}, getproviders.Digests{}, "none, expected"},
	} {
		got, err := test.hashes.Authenticate(test.digests)
		if test.wantErr == "" {
			must.Equal(t, err, nil, name)
			must.DeepEqual(t, got, getproviders.AuthenticationResult{TrustLevel: getproviders.LevelVerifiedChecksum}, name)
			continue
		}
		wantAuthenticationError(t, err, "checksum_mismatch", test.wantErr)
	}
}

// TestChecksumError_RepeatsLittle: a mirror may list any text as a hash.
func TestChecksumError_RepeatsLittle(t *testing.T) {
	odd := getproviders.Hash("h1:\x1b[2J" + strings.Repeat("a", 10_000))
	for _, hashes := range []getproviders.AnyHash{{odd}, {odd, odd}, {"h9:" + odd}, slices.Repeat(getproviders.AnyHash{odd}, 1000)} {
		_, err := hashes.Authenticate(getproviders.Digests{H1: "h1:files="})
		if text := err.Error(); len(text) > 2000 || strings.Contains(text, "\x1b") || !strings.Contains(text, `h1:\x1b[2Jaaa`) {
			t.Errorf("%d hashes: %d bytes: %.200q", len(hashes), len(text), text)
		}
	}
}

// wantAuthenticationError checks what callers use: the sentinel, the type, and the text.
func wantAuthenticationError(t *testing.T, err error, code, text string) {
	t.Helper()
	must.Fail(t, err, getproviders.ErrAuthentication)
	must.Equal(t, getproviders.CodeOf(err), code)
	must.Contain(t, err, text)
}

func TestChecksumError_HintsAtItsCause(t *testing.T) {
	_, damaged := getproviders.AnyHash{"zh:00", "h9:new"}.Authenticate(getproviders.Digests{})
	must.Contain(t, strings.Join(getproviders.HintsOf(damaged), ""), "damaged")
	_, unknown := getproviders.AnyHash{"h9:new"}.Authenticate(getproviders.Digests{})
	must.NotContain(t, strings.Join(getproviders.HintsOf(unknown), ""), "damaged")
}
