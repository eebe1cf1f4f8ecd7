package getproviders

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTrust_ExpectsTheOneChecksumThatIsListed(t *testing.T) {
	zh := func(digit string) Hash { return Hash("zh:" + strings.Repeat(digit, 64)) }
	for name, c := range map[string]struct {
		hashes AnyHash
		want   Hash // "" means that it is unknown
	}{
		"one":              {AnyHash{zh("1")}, zh("1")},
		"one and others":   {AnyHash{"h1:x", zh("1"), "h9:y"}, zh("1")},
		"one, twice":       {AnyHash{zh("1"), zh("1")}, zh("1")},
		"two":              {AnyHash{zh("1"), zh("2")}, ""},
		"three, two equal": {AnyHash{zh("1"), zh("2"), zh("1")}, ""},
		"none":             {AnyHash{"h1:x"}, ""},
		"one and no other": {AnyHash{"zh:1", zh("1")}, zh("1")},
		"one that is none": {AnyHash{"zh:" + Hash(strings.Repeat("x", 64))}, ""},
		"one too long":     {AnyHash{zh("1") + "00"}, ""},
	} {
		sum := c.hashes.trust().ExpectedSHA256
		if known := sum != [32]byte{}; known != (c.want != "") || known && ZH(sum) != c.want {
			t.Errorf("%s: got %s; want %q", name, ZH(sum), c.want)
		}
	}
	answer := &packageAnswer{said: signedChecksums{SHA256: [32]byte{1}}}
	must.Equal(t, (&RegistrySource{}).trust(Provider{}, answer).ExpectedSHA256, [32]byte{1})
}
