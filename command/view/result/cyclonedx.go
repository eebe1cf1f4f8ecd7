package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// InventoryPackage is a provider of a working directory with all that this machine knows about its
// package.
type InventoryPackage struct {
	getproviders.Candidate // if it isn't present, only its Provider and Platform are set, and Version if the lock file selects one
	Constraints            getproviders.Constraints
	LockedHashes           []getproviders.Hash

	Present   bool  // installed, with one of the locked hashes
	HasPolicy bool  // there are rules of a policy
	Refused   error // by a rule, or nil
}

// unknown is the value of properties that this machine doesn't know.
const unknown = "unknown"

// Foreign is an object in another standard's format, to which Write adds nothing.
type Foreign struct{ Object }

// Inventory is the report of "providers -format=cyclonedx": a CycloneDX document without
// the keys at the end of other reports, also as the text for people. It isn't made by the library of CycloneDX, which only a test uses,
// because that fills tables and compiles regular expressions before main.
func Inventory(ownVersion string, made time.Time, packages []InventoryPackage) *Result {
	told := &Result{Programs: Foreign{Object{
		"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat", "CycloneDX", "specVersion", "1.6", "version", 1,
		"metadata", Object{
			"timestamp", made.UTC().Format(time.RFC3339),
			"tools", Object{"components", []Object{{"type", "application", "name", "tfdeps", "version?", ownVersion}}},
		},
		"components", Each(packages, InventoryPackage.component),
	}}}
	var text strings.Builder
	_ = Write(&text, told, true, Run{}) // to memory
	told.People = text.String()
	return told
}

// component returns the object of one package. Facts without a field in CycloneDX are properties, whose names begin with "tfdeps:".
func (p InventoryPackage) component() Object {
	version, url := "", "pkg:terraform/"+p.Provider.String()
	if !p.Version.IsZero() {
		version = p.Version.String()
		url += "@" + strings.ReplaceAll(version, "+", "%2B")
	}
	var hashes, references []Object
	for _, h := range p.Hashes {
		if h.Scheme() == hashing.ZH && p.isPublished(h) {
			hashes = []Object{{"alg", "SHA-256", "content", strings.TrimPrefix(string(h), "zh:")}}
		}
	}
	if strings.HasPrefix(p.SourceURL, "https://") || strings.HasPrefix(p.SourceURL, "http://") {
		references = []Object{{"url", p.SourceURL, "type", "distribution"}}
	}
	return Object{
		"bom-ref", url, "type", "application", "group", p.Provider.Hostname.String() + "/" + p.Provider.Namespace, "name", p.Provider.Type,
		"version?", version, "hashes?", hashes, "purl", url, "externalReferences?", references, "properties", p.properties(),
	}
}

// isPublished reports whether a checksum may be that of the publisher's archive. It isn't if the
// lock file has zh hashes without this one: a mirror may have archives that were packed again from files.
func (p InventoryPackage) isPublished(zh getproviders.Hash) bool {
	return slices.Contains(p.LockedHashes, zh) || !slices.ContainsFunc(p.LockedHashes, func(h getproviders.Hash) bool { return h.Scheme() == hashing.ZH })
}

func (p InventoryPackage) properties() (all []Object) {
	add := func(name, value string) { all = append(all, Object{"name", "tfdeps:" + name, "value", value}) }
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

// verdict returns the policy's decision. For a missing package only a refusal is known.
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
