package getproviders

import (
	"encoding/json"
	"slices"
)

// HashLister is an Authenticator that knows what else its source says of the
// package's hashes. Nobody has signed that: whether to believe it without a look
// at the package is for callers to decide. It decides nothing in Authenticate.
type HashLister interface {
	// ListedHashes are of the package, of the schemes that we know; nil: the
	// source says nothing, or contradicts itself.
	ListedHashes() []Hash
}

// ListedHashes implements HashLister: all of the list.
func (a AnyHash) ListedHashes() []Hash {
	return slices.DeleteFunc(slices.Clone(a), func(h Hash) bool { return !h.Supported() })
}

// ListedHashes implements HashLister: those of Listed, with the zh that the
// description of the package has.
func (c SignedChecksums) ListedHashes() []Hash {
	if len(c.Listed) == 0 {
		return nil
	}
	return append(slices.Clone(c.Listed), ZH(c.SHA256))
}

// listed returns the h1 that a description of a package tells. Registries for
// OpenTofu have the hashes of all of a version's packages in it, by platform, in
// a property that the protocol doesn't know; whatever is wrong with that is as
// good as silence. A zh that isn't the archive's makes all of it doubtful, and so
// does a second h1, as no archive has two.
func (w *wirePackage) listed(plat Platform, sum [32]byte) []Hash {
	var packages map[string]struct {
		Hashes []string `json:"hashes"`
	}
	if len(w.Packages) == 0 || json.Unmarshal(w.Packages, &packages) != nil {
		return nil
	}
	var h1 []Hash
	for _, text := range packages[plat.String()].Hashes {
		switch h := Hash(text); h.Scheme() {
		case SchemeZH:
			if told, ok := h.sha256(); !ok || told != sum {
				return nil
			}
		case SchemeH1:
			if !isH1(h) || len(h1) > 0 && h1[0] != h {
				return nil
			}
			h1 = []Hash{h}
		}
	}
	return h1
}
