package archivedir

import (
	"context"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// documents returns what is signed about a package's version, if that is true of
// an archive with this checksum, and names it as a mirror does; else nil. Sources
// remember what they were asked for.
func SignedDocuments(ctx context.Context, t fetcher.Request, plat getproviders.Platform, zh getproviders.Hash) *getproviders.SignedDocuments {
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return nil
	}
	return ShownDocuments(t, trust, plat, zh)
}

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

// documentNames are the files of a version, in the order in which they come into
// the mirror: the signature announces the others.
func DocumentNames(p getproviders.Provider, v getproviders.Version) []string {
	return []string{getproviders.KeysName(p, v), getproviders.ChecksumsName(p, v), getproviders.SignatureName(p, v)}
}
