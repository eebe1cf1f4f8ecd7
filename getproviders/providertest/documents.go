package providertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	servicePath = "/v1/providers/"
	filesPath   = "/files/"
)

// discoveryDocument names the services by relative URLs, as most hosts do.
func discoveryDocument() []byte {
	return toJSON(map[string]any{"modules.v1": modulesPath, "providers.v1": servicePath})
}

type versionEntry struct {
	Version   string          `json:"version"`
	Protocols []string        `json:"protocols"`
	Platforms []platformEntry `json:"platforms"`
}

type platformEntry struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

func versionsDocument(packages []servedPackage) []byte {
	var versions []*versionEntry
	var warnings []string
	for _, p := range packages {
		i := slices.IndexFunc(versions, func(v *versionEntry) bool { return v.Version == p.Version })
		if i < 0 {
			i = len(versions)
			versions = append(versions, &versionEntry{Version: p.Version, Protocols: p.Protocols})
		}
		versions[i].Platforms = append(versions[i].Platforms, platformEntry(p.Platform))
		for _, w := range p.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	return toJSON(map[string]any{"versions": versions, "warnings": warnings})
}

// packageDocument describes p, one of the packages of a version. Its URLs are
// relative to the document's own.
func (r *Registry) packageDocument(p servedPackage, all []servedPackage) []byte {
	signer := r.signerOf(all)
	keys := p.Keys
	if keys == nil {
		keys = []Key{signer.Key()}
	}
	base := filesPath + strings.Join([]string{p.Namespace, p.Type, p.Version}, "/") + "/"
	document := map[string]any{
		"protocols":             p.Protocols,
		"os":                    p.Platform.OS,
		"arch":                  p.Platform.Arch,
		"filename":              p.archiveName(),
		"download_url":          base + p.archiveName(),
		"shasums_url":           base + p.sumsName(),
		"shasums_signature_url": base + p.sumsName() + ".sig",
		"shasum":                fmt.Sprintf("%x", p.sha256),
		"signing_keys":          map[string]any{"gpg_public_keys": keys},
	}
	if r.opts.ListHashes {
		document["packages"] = listedPackages(all)
	}
	return toJSON(document)
}

// listedPackages is what registries for OpenTofu tell of the hashes of a
// version's packages.
func listedPackages(all []servedPackage) map[string]any {
	listed := map[string]any{}
	for _, p := range all {
		listed[p.Platform.OS+"_"+p.Platform.Arch] = map[string]any{"hashes": p.listedHashes(), "package_size": len(p.Archive)}
	}
	return listed
}

// sumsDocument lists the archives of one version for all platforms, in the
// form that sha256sum prints.
func (r *Registry) sumsDocument(packages []servedPackage) []byte {
	var lines []string
	for _, p := range packages {
		lines = append(lines, fmt.Sprintf("%x  %s\n", p.sha256, p.archiveName()))
	}
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[64:], b[64:]) // by name: the hash is 64 digits
	})
	sums := []byte(strings.Join(lines, ""))
	if r.opts.EditSums != nil {
		sums = r.opts.EditSums(sums)
	}
	return sums
}

// signerOf says who signs the checksum list of one version's packages.
func (r *Registry) signerOf(packages []servedPackage) *Signer {
	signer := r.opts.Signer
	for _, p := range packages {
		if p.Signer != nil {
			signer = p.Signer
		}
	}
	return signer
}

func toJSON(value any) []byte {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("providertest: %s", err)) // only strings go in
	}
	return text
}
