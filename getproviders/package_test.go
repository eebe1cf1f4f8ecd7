package getproviders_test

import (
	"net/url"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

func TestTrustLevel_ReadsAsInTerraform(t *testing.T) {
	for level, want := range map[getproviders.TrustLevel]string{
		getproviders.LevelUnauthenticated:  "unauthenticated",
		getproviders.LevelVerifiedChecksum: "verified checksum",
		getproviders.LevelCommunity:        "self-signed",
		getproviders.LevelPartner:          "signed by a HashiCorp partner",
		getproviders.LevelOfficial:         "signed by HashiCorp",
		99:                                 "unauthenticated",
	} {
		if got := level.String(); got != want {
			t.Errorf("level %d: %q, want %q", int(level), got, want)
		}
	}
}

func TestLocation_ShowsNoSecrets(t *testing.T) {
	for given, want := range map[string]string{
		"https://user:hush@cdn.example:8443/a%2Fb/p.zip?X-Signature=hush#hush": "https://cdn.example:8443/a%2Fb/p.zip",
		"http://cdn.example/p.zip?": "http://cdn.example/p.zip",
	} {
		u, err := url.Parse(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := (getproviders.HTTPArchive{URL: u}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if u.String() != given {
			t.Errorf("the location's URL became %q", u)
		}
	}
	if got := (getproviders.HTTPArchive{}).String(); got != "" {
		t.Errorf("the zero HTTPArchive is %q", got)
	}
	if got := getproviders.LocalArchive("/m/p.zip").String(); got != "/m/p.zip" {
		t.Errorf("got %q", got)
	}
	if got := getproviders.LocalDirectory("/m/p").String(); got != "/m/p" {
		t.Errorf("got %q", got)
	}
}
