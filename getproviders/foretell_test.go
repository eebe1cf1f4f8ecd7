package getproviders

import (
	"strings"
	"testing"
)

func TestForetell(t *testing.T) {
	zh := func(digit string) Hash { return Hash("zh:" + strings.Repeat(digit, 64)) }
	for name, c := range map[string]struct {
		hashes givenHashes
		want   Hash // "": it isn't known
	}{
		"one":              {givenHashes{zh("1")}, zh("1")},
		"one and others":   {givenHashes{"h1:x", zh("1"), "h9:y"}, zh("1")},
		"one, twice":       {givenHashes{zh("1"), zh("1")}, zh("1")},
		"two":              {givenHashes{zh("1"), zh("2")}, ""},
		"three, two equal": {givenHashes{zh("1"), zh("2"), zh("1")}, ""},
		"none":             {givenHashes{"h1:x"}, ""},
		"one and no other": {givenHashes{"zh:1", zh("1")}, zh("1")},
		"one that is none": {givenHashes{"zh:" + Hash(strings.Repeat("x", 64))}, ""},
		"one too long":     {givenHashes{zh("1") + "00"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sum, ok := c.hashes.Foretell()
			if ok != (c.want != "") || ok && ZH(sum) != c.want {
				t.Errorf("got %s, %v; want %q", ZH(sum), ok, c.want)
			}
		})
	}
	answer := &registryTrust{answer: &packageAnswer{sha256: [32]byte{1}}}
	if sum, ok := answer.Foretell(); !ok || sum != [32]byte{1} {
		t.Errorf("a registry foretells %x, %v", sum, ok)
	}
}
