package fetcher

import (
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// HashPolicy says whose word counts for hashes of packages that aren't read. No
// word is recorded of a package that was read for the same lock entry, and none is
// asked for by Lock where the content of a package is remembered.
type HashPolicy int

const (
	// TrustRegistryHashes takes the h1 that a provider's own registry tells of a
	// package, without a look at it: the lock file then accepts what the registry
	// says instead of what the package has. It has to tell the zh, too, and that has
	// to be the one that is signed for the platform. What it tells of platforms that
	// nobody has asked for is recorded as well. Registries have this say because
	// they also tell whose signatures count. The real terraform takes nobody's word;
	// OpenTofu takes that of one registry, and records whatever stands there.
	TrustRegistryHashes HashPolicy = iota
	// TrustMirrorHashes is TrustRegistryHashes, and takes the hashes that network mirrors
	// list of packages, which are as good as the mirror. Those are mirrors that the
	// user named.
	TrustMirrorHashes
	// ComputeHashes takes nobody's word, and reads every package whose content isn't
	// known yet.
	ComputeHashes
)

// listed are the hashes of a package that may be recorded without reading it; nil:
// there are none.
func (p HashPolicy) Listed(trust getproviders.Trust) []getproviders.Hash {
	isRegistry := len(trust.RegistryHashes) > 0
	if p == ComputeHashes || p == TrustRegistryHashes && !isRegistry {
		return nil
	}
	return trust.ListedHashes
}

// believed are those of the hashes that a registry tells which may be recorded.
func (p HashPolicy) Believed(told map[getproviders.Platform]getproviders.Hash) map[getproviders.Platform]getproviders.Hash {
	if p == ComputeHashes {
		return nil
	}
	return told
}

// toldHashes are the hashes for some platforms, but for those of which more is
// known than what is told.
func ToldHashes(told map[getproviders.Platform]getproviders.Hash, known ...getproviders.Platform) []getproviders.Hash {
	others := maps.Clone(told)
	maps.DeleteFunc(others, func(plat getproviders.Platform, _ getproviders.Hash) bool { return slices.Contains(known, plat) })
	return getproviders.SortHashes(slices.Collect(maps.Values(others)))
}
