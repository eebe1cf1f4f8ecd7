package fetch

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// HashPolicy says which sources are trusted for the hashes of packages that aren't
// read. A package that was read for the same lock entry is recorded with its own
// hashes only, and so is one whose content is known from an earlier run.
type HashPolicy int

const (
	// TrustRegistryHashes records the h1 that OpenTofu's own registry (its DefaultHost)
	// lists for a package, without reading the package. The registry has to list the zh, too,
	// and it has to be the one that is signed for the platform. Hashes that it lists
	// for platforms that weren't asked for are recorded as well. Terraform has no such
	// registry; OpenTofu trusts one, and records all that it lists.
	TrustRegistryHashes HashPolicy = iota
	// TrustMirrorHashes records the hashes that any registry lists in this way, and those
	// that network mirrors list. They are as trustworthy as the registry, or the mirror,
	// of which only those are asked that the user configured.
	TrustMirrorHashes
	// ComputeHashes trusts no source, and reads every package whose content isn't
	// known yet.
	ComputeHashes
)

// ListedHashes are the hashes of a package that may be recorded without reading it; nil:
// there are none.
func (f *Fetcher) ListedHashes(p getproviders.Provider, trust getproviders.Trust) []getproviders.Hash {
	switch isRegistry := len(trust.RegistryHashes) > 0; {
	case isRegistry && f.trustsRegistry(p), f.HashPolicy == TrustMirrorHashes:
		return trust.ListedHashes
	}
	return nil
}

// TrustedHashes returns those of a registry's hashes of a provider that may be recorded.
func (f *Fetcher) TrustedHashes(p getproviders.Provider, listed map[getproviders.Platform]getproviders.Hash) map[getproviders.Platform]getproviders.Hash {
	if !f.trustsRegistry(p) {
		return nil
	}
	return listed
}

func (f *Fetcher) trustsRegistry(p getproviders.Provider) bool {
	switch f.HashPolicy {
	case TrustRegistryHashes:
		return f.Product.Predecessor != nil && p.Hostname == f.Product.DefaultHost
	default:
		return f.HashPolicy == TrustMirrorHashes
	}
}

// RegistryHashes returns a registry's hashes, sorted, without those for the given
// platforms, whose packages have been read.
func RegistryHashes(listed map[getproviders.Platform]getproviders.Hash, known ...getproviders.Platform) []getproviders.Hash {
	others := maps.Clone(listed)
	maps.DeleteFunc(others, func(plat getproviders.Platform, _ getproviders.Hash) bool { return slices.Contains(known, plat) })
	return hashing.Sort(slices.Collect(maps.Values(others)))
}
