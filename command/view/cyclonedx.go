package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// InventoryPackage is a provider of a working directory with all that is known of its package without asking
// anything but this machine.
type InventoryPackage struct {
	Provider     getproviders.Provider
	Version      getproviders.Version // zero: the lock file selects none
	Platform     getproviders.Platform
	Constraints  getproviders.Constraints
	LockedHashes []getproviders.Hash

	Present bool // in its place, with one of the locked hashes
	// The other facts are those of a package that is present. Each is zero if it isn't known.
	Hashes         []getproviders.Hash
	SourceURL      string
	FromRegistry   bool
	Authentication getproviders.AuthenticationResult
	Released       time.Time

	HasPolicy bool  // there are rules
	Refused   error // by one of them; nil: by none
}

// Inventory is what the command "providers -format=cyclonedx" tells.
type Inventory struct {
	Version  string // of tfdeps
	Made     time.Time
	Packages []InventoryPackage
}

// unknown stands in properties for facts that this machine doesn't know.
const unknown = "unknown"

// Text is the inventory as a CycloneDX document, which is JSON for people, too.
func (i Inventory) Text() string {
	var b strings.Builder
	_ = Write(&b, i, true, Run{}) // to memory
	return b.String()
}

// JSON is the document. Its format has no room for what other reports end with.
func (i Inventory) JSON() any {
	return Whole{cdxDocument{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: cdxMetadata{
			Timestamp: i.Made.UTC().Format(time.RFC3339),
			Tools:     cdxTools{Components: []cdxComponent{{Type: "application", Name: "tfdeps", Version: i.Version}}},
		},
		Components: each(i.Packages, InventoryPackage.component),
	}}
}

// The parts of a CycloneDX document that are used here. The library of CycloneDX, which reads what is written in a
// test, fills tables and compiles regular expressions before main, for documents of all kinds.
type cdxDocument struct {
	Schema      string         `json:"$schema"`
	Format      string         `json:"bomFormat"`
	SpecVersion string         `json:"specVersion"`
	Version     int            `json:"version"`
	Metadata    cdxMetadata    `json:"metadata"`
	Components  []cdxComponent `json:"components"`
}

type cdxMetadata struct {
	Timestamp string   `json:"timestamp"`
	Tools     cdxTools `json:"tools"`
}

type cdxTools struct {
	Components []cdxComponent `json:"components"`
}

type cdxComponent struct {
	BOMRef     string         `json:"bom-ref,omitempty"`
	Type       string         `json:"type"`
	Group      string         `json:"group,omitempty"`
	Name       string         `json:"name"`
	Version    string         `json:"version,omitempty"`
	Hashes     []cdxHash      `json:"hashes,omitempty"`
	PackageURL string         `json:"purl,omitempty"`
	References []cdxReference `json:"externalReferences,omitempty"`
	Properties []cdxProperty  `json:"properties,omitempty"`
}

type cdxHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type cdxReference struct {
	URL  string `json:"url"`
	Type string `json:"type"`
}

type cdxProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// component is one package. What CycloneDX has no field for are properties, whose names begin with "tfdeps:".
func (p InventoryPackage) component() cdxComponent {
	c := cdxComponent{
		Type:  "application",
		Group: p.Provider.Hostname.String() + "/" + p.Provider.Namespace, Name: p.Provider.Type,
	}
	c.PackageURL = "pkg:terraform/" + p.Provider.String()
	if p.Version != (getproviders.Version{}) {
		c.Version = p.Version.String()
		c.PackageURL += "@" + strings.ReplaceAll(c.Version, "+", "%2B")
	}
	c.BOMRef = c.PackageURL
	for _, h := range p.Hashes {
		if h.Scheme() == getproviders.SchemeZH && p.isPublished(h) {
			c.Hashes = []cdxHash{{Algorithm: "SHA-256", Content: strings.TrimPrefix(string(h), "zh:")}}
		}
	}
	if strings.HasPrefix(p.SourceURL, "https://") || strings.HasPrefix(p.SourceURL, "http://") {
		c.References = []cdxReference{{Type: "distribution", URL: p.SourceURL}}
	}
	c.Properties = p.properties()
	return c
}

// isPublished reports whether a checksum may be that of the publisher's archive: it isn't, if the
// lock file has those of archives and not this one. What "cache pull" gets was packed from files.
func (p InventoryPackage) isPublished(zh getproviders.Hash) bool {
	return slices.Contains(p.LockedHashes, zh) || !slices.ContainsFunc(p.LockedHashes, func(h getproviders.Hash) bool { return h.Scheme() == getproviders.SchemeZH })
}

func (p InventoryPackage) properties() (all []cdxProperty) {
	add := func(name, value string) { all = append(all, cdxProperty{Name: "tfdeps:" + name, Value: value}) }
	add("platform", p.Platform.String())
	add("version_constraints", p.Constraints.String())
	for _, h := range p.LockedHashes {
		add("locked_hash", string(h))
	}
	add("present", fmt.Sprint(p.Present))
	for _, h := range p.Hashes {
		add("hash", string(h))
	}
	source := cmp.Or(p.SourceURL, unknown)
	if p.FromRegistry {
		source = fmt.Sprintf("registry %s, %s", p.Provider.Hostname, source)
	}
	add("source", source)
	add("released", p.released())
	authentication, key := unknown, unknown
	if p.Authentication.TrustLevel != getproviders.LevelUnauthenticated {
		authentication, key = p.Authentication.TrustLevel.String(), cmp.Or(p.Authentication.KeyID, "none")
	}
	add("authentication", authentication)
	add("key_id", key)
	add("policy", p.verdict())
	if p.Refused != nil {
		add("policy_reason", p.Refused.Error())
	}
	return all
}

func (p InventoryPackage) released() string {
	if p.Released.IsZero() {
		return unknown
	}
	return p.Released.UTC().Format(time.RFC3339)
}

// verdict says what the policy decides. Of a package that isn't there, only a refusal is known.
func (p InventoryPackage) verdict() string {
	switch {
	case p.Refused != nil:
		return "refused"
	case !p.HasPolicy:
		return "no rules"
	case !p.Present:
		return unknown
	default:
		return "allowed"
	}
}
