package getproviders

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParseHash(t *testing.T) {
	tests := []struct {
		given, scheme string
		supported     bool
	}{
		{"h1:abc=", "h1", true},
		{"zh:0f", "zh", true},
		{"h9:whatever:more", "h9", false},
		{"H1:abc=", "H1", false},
		{"zh:", "zh", true},
	}
	for _, tt := range tests {
		h := must.Get(ParseHash(tt.given))(t, tt.given)
		must.Equal(t, string(h), tt.given)
		must.Equal(t, h.Scheme(), tt.scheme)
		must.Equal(t, h.Supported(), tt.supported)
	}
	for _, given := range []string{"", ":", ":abc", "h1", "abc="} {
		must.Refuse(ParseHash(given))(t, given)
	}
	must.Equal(t, Hash("h1").Scheme(), "")
}

func TestSortHashes(t *testing.T) {
	given := []Hash{"zh:b", "h1:z", "zh:a", "h1:Z", "h1:z"}
	before := slices.Clone(given)
	must.EqualSlices(t, hashing.Sort(given), []Hash{"h1:Z", "h1:z", "zh:a", "zh:b"})
	must.EqualSlices(t, given, before)
	must.Len(t, hashing.Sort[Hash](nil), 0)
}

func FuzzParseHash(f *testing.F) {
	for _, seed := range []string{"h1:abc=", "zh:0f", ":", "h1", "h9:a:b", "\xff:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		h, err := ParseHash(given)
		if err != nil {
			return
		}
		if h.Scheme() == "" || !strings.HasPrefix(string(h), h.Scheme()+":") {
			t.Errorf("%q has scheme %q", h, h.Scheme())
		}
	})
}
