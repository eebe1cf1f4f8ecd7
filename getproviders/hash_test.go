package getproviders_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
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
		h, err := getproviders.ParseHash(tt.given)
		if err != nil || string(h) != tt.given || h.Scheme() != tt.scheme || h.Supported() != tt.supported {
			t.Errorf("%q = %q (scheme %q, supported %t), %v", tt.given, h, h.Scheme(), h.Supported(), err)
		}
	}
	for _, given := range []string{"", ":", ":abc", "h1", "abc="} {
		if h, err := getproviders.ParseHash(given); err == nil {
			t.Errorf("%q was read as %q", given, h)
		}
	}
	if scheme := getproviders.Hash("h1").Scheme(); scheme != "" {
		t.Errorf("a hash without a colon has scheme %q", scheme)
	}
}

func TestZH(t *testing.T) {
	const want = "zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := getproviders.ZH(sha256.Sum256(nil)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSortHashes(t *testing.T) {
	given := []getproviders.Hash{"zh:b", "h1:z", "zh:a", "h1:Z", "h1:z"}
	before := slices.Clone(given)
	got := hashing.Sort(given)
	if want := []getproviders.Hash{"h1:Z", "h1:z", "zh:a", "zh:b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !slices.Equal(given, before) {
		t.Errorf("the argument became %v", given)
	}
	if got := hashing.Sort[getproviders.Hash](nil); len(got) != 0 {
		t.Errorf("nothing became %v", got)
	}
}

func FuzzParseHash(f *testing.F) {
	for _, seed := range []string{"h1:abc=", "zh:0f", ":", "h1", "h9:a:b", "\xff:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		h, err := getproviders.ParseHash(given)
		if err != nil {
			return
		}
		if h.Scheme() == "" || !strings.HasPrefix(string(h), h.Scheme()+":") {
			t.Errorf("%q has scheme %q", h, h.Scheme())
		}
	})
}
