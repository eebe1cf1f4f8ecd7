package getproviders

import (
	"encoding/json"
	"slices"
	"strings"
)

// HashLister is an Authenticator that knows what else its source says of the
// package's hashes. Nobody has signed that: whether to believe it without a look
// at the package is for callers to decide. It decides nothing in Authenticate.
type HashLister interface {
	// ListedHashes are of the package, of the schemes that we know; nil: the
	// source says nothing, or contradicts itself.
	ListedHashes() []Hash
}

// RegistryHasher is an Authenticator of a provider's own registry, which may tell the
// hashes of the packages of all platforms: that is what registries for OpenTofu
// do. Nobody has signed them, but who tells them also tells whose signatures count.
type RegistryHasher interface {
	// RegistryHashes are an h1 for each platform that the registry tells one for,
	// beside the very zh that the checksum list has for that platform. They are
	// worth as much as that list, so Authenticate comes first.
	RegistryHashes() map[Platform]Hash
}

// ListedHashes implements HashLister: all of the list.
func (a AnyHash) ListedHashes() []Hash {
	return slices.DeleteFunc(slices.Clone(a), func(h Hash) bool { return !h.Supported() })
}

// ListedHashes implements HashLister: what RegistryHashes has for the package, and
// the zh that its description has.
func (c SignedChecksums) ListedHashes() []Hash {
	h1, ok := c.RegistryHashes()[c.Platform]
	if !ok {
		return nil
	}
	return []Hash{h1, ZH(c.SHA256)}
}

// RegistryHashes implements RegistryHasher.
func (c SignedChecksums) RegistryHashes() map[Platform]Hash {
	if len(c.Told) == 0 {
		return nil
	}
	told := map[Platform]Hash{}
	for plat, zh := range parseChecksums(c.Sums).platforms(c.FileName, c.Platform) {
		if h1, ok := h1Beside(zh, c.Told[plat]); ok {
			told[plat] = h1
		}
	}
	return told
}

// platforms returns the hashes of a version's archives. Their names differ from
// that of one of them, which is for the platform own, in the platform only.
func (l checksumList) platforms(name string, own Platform) map[Platform]Hash {
	const suffix = ".zip"
	prefix, ok := strings.CutSuffix(name, own.String()+suffix)
	if !ok {
		return nil
	}
	found := map[Platform]Hash{}
	for _, line := range l {
		rest, isArchive := strings.CutPrefix(line.name, prefix)
		text, isZip := strings.CutSuffix(rest, suffix)
		plat, err := ParsePlatform(text)
		if _, before := found[plat]; !isArchive || !isZip || err != nil || before {
			continue // the first line with a name counts, as in check
		}
		found[plat], _ = line.zh()
	}
	return found
}

// h1Beside returns the h1 among hashes that are told of the archive zh. Another zh
// makes all of them doubtful, and so does a second h1, as no archive has two.
func h1Beside(zh Hash, hashes []Hash) (h1 Hash, ok bool) {
	for _, h := range hashes {
		switch h.Scheme() {
		case SchemeZH:
			if sum, isZH := h.sha256(); !isZH || ZH(sum) != zh {
				return "", false
			}
			ok = true
		case SchemeH1:
			if !isH1(h) || h1 != "" && h1 != h {
				return "", false
			}
			h1 = h
		}
	}
	return h1, ok && h1 != ""
}

// told returns the hashes that a description of a package tells, of all packages
// of the version. They are in a property that the protocol doesn't know; whatever
// is wrong with it is as good as silence. The sizes beside them aren't looked at:
// a checksum says more.
func (w *wirePackage) told() map[Platform][]Hash {
	var packages map[string]struct {
		Hashes []Hash `json:"hashes"`
	}
	if len(w.Packages) == 0 || json.Unmarshal(w.Packages, &packages) != nil {
		return nil
	}
	told := map[Platform][]Hash{}
	for text, listed := range packages {
		if plat, err := ParsePlatform(text); err == nil && plat.String() == text {
			told[plat] = listed.Hashes
		}
	}
	return told
}
