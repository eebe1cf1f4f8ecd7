package result

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// propertiesOf returns the values of a component's properties, by their names without "tfdeps:".
func propertiesOf(c cdx.Component) map[string][]string {
	all := map[string][]string{}
	for _, p := range *c.Properties {
		name := strings.TrimPrefix(p.Name, "tfdeps:")
		all[name] = append(all[name], p.Value)
	}
	return all
}

func TestInventory_SaysWhatIsKnown(t *testing.T) {
	provider := func(address string) getproviders.Provider {
		p := must.Get(getproviders.Terraform("1.15.9").ParseProvider(address))(t)
		return p
	}
	made := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	sum := strings.Repeat("ab", 32)
	inventory := Inventory("1.0", made, []InventoryPackage{
		{
			Candidate: getproviders.Candidate{
				Provider: provider("acme/widget"), Version: getproviders.MustParseVersion("1.2.0+x"), Platform: getproviders.Platform{OS: "linux", Arch: "amd64"},
				Hashes: []getproviders.Hash{"h1:a", getproviders.Hash("zh:" + sum)}, SourceURL: "https://cdn.example/v1/", FromRegistry: true, Released: made,
				Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelCommunity, KeyID: "34365D9472D7468F"},
			},
			LockedHashes: []getproviders.Hash{"h1:a", "zh:b", getproviders.Hash("zh:" + sum)}, Present: true, HasPolicy: true,
		},
		{Candidate: getproviders.Candidate{Provider: provider("acme/absent")}, HasPolicy: true},
		{Candidate: getproviders.Candidate{Provider: provider("acme/refused"), SourceURL: "file:///mirror"}, Present: true, HasPolicy: true, Refused: errors.New("too young")},
		{Candidate: getproviders.Candidate{Provider: provider("acme/free"), Hashes: []getproviders.Hash{getproviders.Hash("zh:" + sum)}}, Present: true, LockedHashes: []getproviders.Hash{"h1:a", "zh:b"}},
	})
	var out bytes.Buffer
	must.Succeed(t, Write(&out, inventory, true, Run{}))
	var bom cdx.BOM
	must.Succeed(t, cdx.NewBOMDecoder(&out, cdx.BOMFileFormatJSON).Decode(&bom))
	if bom.SpecVersion != cdx.SpecVersion1_6 || bom.Metadata.Timestamp != "2026-03-01T12:00:00Z" || len(*bom.Components) != 4 {
		t.Fatalf("got %+v", bom)
	}
	c := (*bom.Components)[0]
	if c.PackageURL != "pkg:terraform/registry.terraform.io/acme/widget@1.2.0%2Bx" || c.Version != "1.2.0+x" || c.Group != "registry.terraform.io/acme" || c.Name != "widget" ||
		(*c.Hashes)[0] != (cdx.Hash{Algorithm: cdx.HashAlgoSHA256, Value: sum}) || (*c.ExternalReferences)[0].URL != "https://cdn.example/v1/" {
		t.Errorf("got %+v", c)
	}
	if packed := (*bom.Components)[3]; packed.Hashes != nil {
		t.Errorf("an archive that isn't the publisher's has %v", *packed.Hashes)
	}
	for n, want := range []map[string]string{
		{"platform": "linux_amd64", "locked_hash": "h1:a zh:b zh:" + sum, "hash": "h1:a zh:" + sum, "source": "registry registry.terraform.io, https://cdn.example/v1/",
			"released": "2026-03-01T12:00:00Z", "authentication": "self-signed", "key_id": "34365D9472D7468F", "policy": "allowed", "present": "true"},
		{"source": "unknown", "released": "unknown", "authentication": "unknown", "key_id": "unknown", "policy": "unknown", "present": "false"},
		{"source": "file:///mirror", "policy": "refused", "policy_reason": "too young"},
		{"policy": "no rules"},
	} {
		got := propertiesOf((*bom.Components)[n])
		for name, value := range want {
			if !slices.Equal(got[name], strings.Fields(value)) && strings.Join(got[name], " ") != value {
				t.Errorf("%d: %s is %q, want %q", n, name, got[name], value)
			}
		}
	}
}
