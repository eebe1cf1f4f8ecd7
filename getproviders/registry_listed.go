package getproviders

import (
	"encoding/json"
	"strings"
)

// listedHashes are what registryHashes has for the package, and the zh that its
// description has.
func (c SignedChecksums) listedHashes() []Hash {
	h1, ok := c.registryHashes()[c.Platform]
	if !ok {
		return nil
	}
	return []Hash{h1, ZH(c.SHA256)}
}

// registryHashes are those of PackageHashes that fit the checksum list.
func (c SignedChecksums) registryHashes() map[Platform]Hash {
	if len(c.PackageHashes) == 0 {
		return nil
	}
	found := map[Platform]Hash{}
	for plat, zh := range parseChecksums(c.Sums).platforms(c.FileName, c.Platform) {
		if h1, ok := h1Beside(zh, c.PackageHashes[plat]); ok {
			found[plat] = h1
		}
	}
	return found
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

// h1Beside returns the h1 among hashes that are listed for the archive zh. Another zh
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

// packageHashes returns the hashes that a description of a package lists, of all
// packages of the version. They are in a property that the protocol doesn't know; whatever
// is wrong with it is as good as if it weren't there. The sizes beside them aren't
// looked at: a checksum says more.
func (w *wirePackage) packageHashes() map[Platform][]Hash {
	var packages map[string]struct {
		Hashes []Hash `json:"hashes"`
	}
	if len(w.Packages) == 0 || json.Unmarshal(w.Packages, &packages) != nil {
		return nil
	}
	found := map[Platform][]Hash{}
	for text, listed := range packages {
		if plat, err := ParsePlatform(text); err == nil && plat.String() == text {
			found[plat] = listed.Hashes
		}
	}
	return found
}
