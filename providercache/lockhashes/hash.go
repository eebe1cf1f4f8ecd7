package lockhashes

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// QueuedEvent comes first when packages are going to be looked at for lock files:
// each once, by platform and provider.
type QueuedEvent struct{ Packages []Package }

// FetchingEvent comes when a package is going to be read.
type FetchingEvent struct{ Package Package }

// DoneEvent comes when a package's hashes are known, or Err says why they aren't.
type DoneEvent struct {
	Package Package
	Err     error
}

func (QueuedEvent) Provider() getproviders.Provider     { return getproviders.Provider{} }
func (e FetchingEvent) Provider() getproviders.Provider { return e.Package.Selection.Provider }
func (e DoneEvent) Provider() getproviders.Provider     { return e.Package.Selection.Provider }

// hashed is what came of the work on one package.
type Hashed struct {
	Package
	Err error
}

// wantedPackages are those of all requests, each once. They stand in the order of
// platforms as they were asked for, and for each of them in that of providers.
func WantedPackages(chosen []Choice) (wanted []Package) {
	rank := map[getproviders.Platform]int{}
	seen := map[PackageKey]bool{}
	for _, c := range chosen {
		for i, s := range c.Selections {
			for _, plat := range c.Platforms[i] {
				if _, ok := rank[plat]; !ok {
					rank[plat] = len(rank)
				}
				if !seen[KeyOf(s, plat)] {
					wanted = append(wanted, Package{Selection: s, Platform: plat})
				}
				seen[KeyOf(s, plat)] = true
			}
		}
	}
	slices.SortStableFunc(wanted, func(a, b Package) int {
		if a.Platform != b.Platform {
			return rank[a.Platform] - rank[b.Platform]
		}
		return a.Selection.Provider.Compare(b.Selection.Provider)
	})
	return wanted
}

// hashAll finds the hashes of all packages.
func hashAll(ctx context.Context, f *fetcher.Fetcher, wanted []Package) map[PackageKey]Hashed {
	f.Emit(ctx, QueuedEvent{Packages: wanted})
	hasher := lockHasher{fetcher: f, archives: receipt.OpenContents(f.EffectiveStateDir())}
	found, errs := par.Map(ctx, f.Limits.WithDefaults().Queries, wanted, func(ctx context.Context, p Package) (Package, error) {
		got, err := hasher.hash(ctx, p)
		f.Emit(ctx, DoneEvent{Package: got, Err: err})
		return got, err
	})
	// What was learned is worth keeping even if the run was interrupted; that it
	// can't be kept costs time, later, and nothing else.
	_ = hasher.archives.Save(context.WithoutCancel(ctx))
	results := make(map[PackageKey]Hashed, len(wanted))
	for i, p := range wanted {
		results[KeyOf(p.Selection, p.Platform)] = Hashed{found[i], errs[i]}
	}
	return results
}

// lockHasher finds the hashes of packages without installing them.
type lockHasher struct {
	fetcher  *fetcher.Fetcher
	archives receipt.Contents
}

// hash finds the hashes of one package: from the source, from what is
// remembered, or by reading the package.
func (h lockHasher) hash(ctx context.Context, p Package) (Package, error) {
	pkg, err := h.fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if err != nil {
		return p, p.Selection.Failed(resolve.StepMetadata, err)
	}
	p.Source = pkg.Source
	t := fetcher.Request{Selection: p.Selection, Package: pkg}
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return p, err
	}
	if got, ok := h.recall(t, trust); ok {
		return p.With(got, HashesRecalled), nil
	}
	if listed, signed, ok := h.believe(t, trust); ok {
		p.told = t.OtherRegistryHashes(trust)
		return p.listed(listed, signed), nil
	}
	h.fetcher.Emit(ctx, FetchingEvent{Package: p})
	got, err := h.fetcher.HashPackage(ctx, t)
	if err != nil {
		return p, err
	}
	h.remember(trust, got)
	return p.With(got, HashesComputed), nil
}

// believe returns the hashes that a source lists for a package, if they are to be
// believed, and what is signed beside them. Without an h1 they would be of no use
// to a product's plan. What vouches for the archive's checksum has to be as good as
// if the archive were here; otherwise reading the package tells what is wrong.
func (h lockHasher) believe(t fetcher.Request, trust getproviders.Trust) (hashes []getproviders.Hash, signed getproviders.AuthenticationResult, ok bool) {
	hashes = h.fetcher.HashPolicy.Listed(trust)
	h1 := resolve.OfScheme(hashes, getproviders.SchemeH1)
	if len(h1) == 0 {
		return nil, signed, false
	}
	sum, _ := fetcher.ExpectedBy(trust)
	vouched, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum, H1: h1[0]})
	if vouched.TrustLevel >= getproviders.LevelCommunity { // else the list was compared with itself
		signed = vouched
	}
	return hashes, signed, err == nil
}

// recall returns what would be known of a package if it were read, provided that
// its checksum is told and the content of the archive with this checksum is
// remembered. All that vouches for the checksum is checked as if the archive
// were here; an archive with another one would be refused in any case.
func (h lockHasher) recall(t fetcher.Request, trust getproviders.Trust) (receipt.Provenance, bool) {
	sum, ok := fetcher.ExpectedBy(trust)
	if !ok || trust.Authenticator == nil {
		return h.recallListed(trust)
	}
	zh := getproviders.ZH(sum)
	h1, ok := h.archives.KnownH1(zh)
	if !ok {
		return receipt.Provenance{}, false
	}
	authentication, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum, H1: h1})
	if err != nil { // reading the package tells what is wrong
		return receipt.Provenance{}, false
	}
	return receipt.Provenance{Authentication: authentication, H1: h1, ZH: zh, Told: t.OtherRegistryHashes(trust)}, true
}

// recallListed is recall for a mirror that lists nothing but an h1, as those do
// that the real tools make: theirs counts directories in the archive, so it isn't
// the one for the lock file, but no two archives with different files share it.
func (h lockHasher) recallListed(trust getproviders.Trust) (receipt.Provenance, bool) {
	listed, ok := onlyH1(trust)
	if !ok {
		return receipt.Provenance{}, false
	}
	h1, ok := h.archives.KnownH1(listed)
	return receipt.Provenance{Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelVerifiedChecksum}, H1: h1}, ok
}

// onlyH1 returns the one hash that a source lists, if that is an h1.
func onlyH1(trust getproviders.Trust) (getproviders.Hash, bool) {
	hashes, _ := trust.Authenticator.(getproviders.AnyHash)
	if len(hashes) != 1 || hashes[0].Scheme() != getproviders.SchemeH1 {
		return "", false
	}
	return hashes[0], true
}

// remember keeps what has been learned from reading a package.
func (h lockHasher) remember(trust getproviders.Trust, got receipt.Provenance) {
	h.archives.RememberArchive(got.ZH, got.H1)
	if listed, ok := onlyH1(trust); ok && got.ZH != "" {
		h.archives.RememberListed(listed, got.H1)
	}
}

// with returns the package with what is known of it.
func (p Package) With(got receipt.Provenance, from HashOrigin) Package {
	p.H1, p.ZH, p.Authentication, p.From, p.told = got.H1, got.ZH, got.Authentication, from, got.Told
	p.Hashes = getproviders.SortHashes(append(slices.Clone(got.Authentication.Signed), got.H1))
	return p
}

// listed returns the package with hashes that a source lists, and those that are
// signed.
func (p Package) listed(hashes []getproviders.Hash, signed getproviders.AuthenticationResult) Package {
	p.From, p.Authentication = HashesListed, signed
	p.Hashes = getproviders.SortHashes(slices.Concat(hashes, signed.Signed))
	p.H1 = resolve.OfScheme(hashes, getproviders.SchemeH1)[0]
	if zh := resolve.OfScheme(hashes, getproviders.SchemeZH); len(zh) > 0 {
		p.ZH = zh[0]
	}
	return p
}
