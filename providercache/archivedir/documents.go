package archivedir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// SignedDocuments asks the source for what is signed about a package's version; nil
// unless that is true of the archive with this checksum and names it as the layout
// does. Sources remember what they were asked for.
func SignedDocuments(ctx context.Context, t fetcher.Request, plat getproviders.Platform, zh getproviders.Hash) *getproviders.SignedDocuments {
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return nil
	}
	return ShownDocuments(t, trust, plat, zh)
}

// ShownDocuments is SignedDocuments for trust that is loaded already.
func ShownDocuments(t fetcher.Request, trust getproviders.Trust, plat getproviders.Platform, zh getproviders.Hash) *getproviders.SignedDocuments {
	documents := trust.Documents
	sum, isZH := ArchiveSum(zh)
	if documents == nil || trust.Authenticator == nil || !isZH {
		return nil
	}
	if _, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum}); err != nil {
		return nil
	}
	if !documents.Covers(t.Provider, t.Version, plat, zh) {
		return nil
	}
	return documents
}

// DocumentNames are the files of a version, in the order in which they are
// written: the signature announces the others.
func DocumentNames(p getproviders.Provider, v getproviders.Version) []string {
	return []string{getproviders.KeysName(p, v), getproviders.ChecksumsName(p, v), getproviders.SignatureName(p, v)}
}

// ArchiveSum is the checksum that a zh hash stands for.
func ArchiveSum(zh getproviders.Hash) (sum [sha256.Size]byte, ok bool) {
	decoded, err := hex.DecodeString(strings.TrimPrefix(string(zh), getproviders.SchemeZH+":"))
	if zh.Scheme() != getproviders.SchemeZH || err != nil || len(decoded) != len(sum) {
		return sum, false
	}
	return [sha256.Size]byte(decoded), true
}
