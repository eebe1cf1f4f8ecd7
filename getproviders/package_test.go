package getproviders_test

import (
	"net/url"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

func TestTierReadsAsInTheRealTools(t *testing.T) {
	for tier, want := range map[getproviders.Tier]string{
		getproviders.TierUnauthenticated:  "unauthenticated",
		getproviders.TierVerifiedChecksum: "verified checksum",
		getproviders.TierCommunity:        "self-signed",
		getproviders.TierPartner:          "signed by a HashiCorp partner",
		getproviders.TierOfficial:         "signed by HashiCorp",
		99:                                "unauthenticated",
	} {
		if got := tier.String(); got != want {
			t.Errorf("tier %d: %q, want %q", int(tier), got, want)
		}
	}
}

func TestLocationTellsNoSecrets(t *testing.T) {
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
