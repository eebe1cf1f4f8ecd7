package getproviders

import (
	"net/url"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestTrustLevel_ReadsAsInTerraform(t *testing.T) {
	for level, want := range map[TrustLevel]string{
		LevelUnauthenticated:  "unauthenticated",
		LevelVerifiedChecksum: "verified checksum",
		LevelCommunity:        "self-signed",
		LevelPartner:          "signed by a HashiCorp partner",
		LevelOfficial:         "signed by HashiCorp",
		99:                    "unauthenticated",
	} {
		must.Equal(t, level.String(), want)
	}
}

func TestLocation_ShowsNoSecrets(t *testing.T) {
	for given, want := range map[string]string{
		"https://user:hush@cdn.example:8443/a%2Fb/p.zip?X-Signature=hush#hush": "https://cdn.example:8443/a%2Fb/p.zip",
		"http://cdn.example/p.zip?": "http://cdn.example/p.zip",
	} {
		u := must.Get(url.Parse(given))(t)
		must.Equal(t, (HTTPArchive{URL: u}).String(), want)
		must.Equal(t, u.String(), given)
	}
	must.Equal(t, (HTTPArchive{}).String(), "")
	must.Equal(t, LocalArchive("/m/p.zip").String(), "/m/p.zip")
	must.Equal(t, LocalDirectory("/m/p").String(), "/m/p")
}
