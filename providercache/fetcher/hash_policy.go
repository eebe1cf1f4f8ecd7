package fetcher

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// HashPolicy says which sources are trusted for the hashes of packages that aren't
// read. A package that was read for the same lock entry is recorded with its own
// hashes only, and so is one whose content is known from an earlier run.
type HashPolicy int

const (
	// TrustRegistryHashes records the h1 that a provider's own registry lists for a
	// package, without reading the package. The registry has to list the zh, too,
	// and it has to be the one that is signed for the platform. Hashes that it lists
	// for platforms that weren't asked for are recorded as well. Registries are
	// trusted because they also say which keys sign a provider. Terraform trusts no
	// source with an h1; OpenTofu trusts one registry, and records all that it lists.
	TrustRegistryHashes HashPolicy = iota
	// TrustMirrorHashes is TrustRegistryHashes, and also records the hashes that
	// network mirrors list, which are as trustworthy as the mirror. Only mirrors that
	// the user configured are asked.
	TrustMirrorHashes
	// ComputeHashes trusts no source, and reads every package whose content isn't
	// known yet.
	ComputeHashes
)

// Listed are the hashes of a package that may be recorded without reading it; nil:
// there are none.
func (p HashPolicy) Listed(trust getproviders.Trust) []getproviders.Hash {
	isRegistry := len(trust.RegistryHashes) > 0
	if p == ComputeHashes || p == TrustRegistryHashes && !isRegistry {
		return nil
	}
	return trust.ListedHashes
}

// Trusted returns those of a registry's hashes that may be recorded.
func (p HashPolicy) Trusted(told map[getproviders.Platform]getproviders.Hash) map[getproviders.Platform]getproviders.Hash {
	if p == ComputeHashes {
		return nil
	}
	return told
}

// RegistryHashes returns a registry's hashes, sorted, without those for the given
// platforms, whose packages have been read.
func RegistryHashes(told map[getproviders.Platform]getproviders.Hash, known ...getproviders.Platform) []getproviders.Hash {
	others := maps.Clone(told)
	maps.DeleteFunc(others, func(plat getproviders.Platform, _ getproviders.Hash) bool { return slices.Contains(known, plat) })
	return getproviders.SortHashes(slices.Collect(maps.Values(others)))
}
