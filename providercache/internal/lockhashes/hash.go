package lockhashes

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// WantedPackages returns the packages of all requests, each once, in
// the order in which platforms were asked for, then by provider.
func WantedPackages(chosen []Choice) (wanted []Package) {
	rank := map[getproviders.Platform]int{}
	seen := map[string]bool{}
	for _, c := range chosen {
		for i, s := range c.Selections {
			for _, plat := range c.Platforms[i] {
				if _, ok := rank[plat]; !ok {
					rank[plat] = len(rank)
				}
				if !seen[KeyOf(s, plat)] {
					wanted = append(wanted, Package{Outcome: event.Outcome{Selection: s, Platform: plat}})
				}
				seen[KeyOf(s, plat)] = true
			}
		}
	}
	slices.SortStableFunc(wanted, func(a, b Package) int {
		if a.Platform != b.Platform {
			return rank[a.Platform] - rank[b.Platform]
		}
		return a.Provider.Compare(b.Provider)
	})
	return wanted
}

// lockHasher finds the hashes of packages without installing them.
type lockHasher struct {
	fetcher  *fetch.Fetcher
	archives receipt.Contents
}

func (h lockHasher) begin(ctx context.Context, wanted []Package) {
	var queued []event.Outcome
	for _, p := range wanted {
		queued = append(queued, p.Outcome)
	}
	h.fetcher.Emit(ctx, event.Event{Kind: event.Queued, Packages: queued})
}

// describe asks the source where a package is, and reports a failure.
func (h lockHasher) describe(ctx context.Context, p Package) (Package, error) {
	p, err := describe(ctx, h.fetcher, p)
	if err != nil {
		return h.end(ctx, p, err)
	}

	p.Source = p.Package.Source
	return p, nil
}

// withhold reports a package that isn't worth finding.
func (h lockHasher) withhold(ctx context.Context, p Package) {
	p.State = event.NotTried
	_, _ = h.end(ctx, p, nil)
}

// end reports what became of a package.
func (h lockHasher) end(ctx context.Context, p Package, err error) (Package, error) {
	if err != nil {
		p.State, p.Err = event.Failed, err
	}

	h.fetcher.Emit(ctx, event.Event{Kind: event.Done, Outcome: p.Outcome})
	return p, err
}

// find finds the hashes of one package, and reports it.
func (h lockHasher) find(ctx context.Context, p Package) (Package, error) {
	got, err := h.hash(ctx, p)
	got.Package = getproviders.Package{} // only Locate returns it
	return h.end(ctx, got, err)
}

// hash finds the hashes of one package: from an earlier run, from
// the source, or by reading the package.
func (h lockHasher) hash(ctx context.Context, p Package) (Package, error) {
	t := fetch.Request{Selection: p.Selection, Package: p.Package}
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return p, err
	}
	if got, ok := h.recall(t, trust); ok {
		return p.With(got, event.Recalled), h.fetcher.Approve(ctx, t, getproviders.StateKnown, got)
	}
	if listed, signed, ok := h.trustListed(t, trust); ok {
		p.registryHashes = t.OtherRegistryHashes(trust)
		found := p.listed(listed, signed)
		return found, h.fetcher.Approve(ctx, t, getproviders.StateKnown, receipt.Provenance{Authentication: signed, H1: found.H1, ZH: found.ZH})
	}
	h.fetcher.Emit(ctx, event.Event{Kind: event.Fetching, Outcome: p.Outcome, Package: p.Package})
	got, err := h.fetcher.HashPackage(ctx, t)
	if err != nil {
		return p, err
	}
	h.remember(trust, got)
	return p.With(got, event.Fetched), nil
}

// trustListed returns the hashes that a source lists for a package, if the policy trusts them, and
// the AuthenticationResult of the archive's checksum. A list without an h1 doesn't count, because
// Terraform and OpenTofu need an h1 to plan. The checksum has to pass the same authentication as
// the archive would; if it doesn't, ok is false, and reading the package reports what is wrong.
func (h lockHasher) trustListed(t fetch.Request, trust getproviders.Trust) (hashes []getproviders.Hash, signed getproviders.AuthenticationResult, ok bool) {
	hashes = h.fetcher.ListedHashes(t.Provider, trust)
	h1 := resolve.OfScheme(hashes, hashing.H1)
	if len(h1) == 0 || trust.Authenticator == nil {
		return nil, signed, false
	}
	sum, _ := fetch.ExpectedBy(trust)
	authenticated, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum, H1: h1[0]})
	if authenticated.TrustLevel >= getproviders.LevelCommunity { // at lower levels the list is only compared with itself
		signed = authenticated
	}
	return hashes, signed, err == nil
}

// recall returns the hashes without reading the package, if its source
// lists the archive's checksum and an earlier run recorded the h1 for this
// checksum. The checksum is authenticated as the archive would be.
func (h lockHasher) recall(t fetch.Request, trust getproviders.Trust) (got receipt.Provenance, ok bool) {
	sum, ok := fetch.ExpectedBy(trust)
	if !ok || trust.Authenticator == nil {
		return h.recallListed(trust)
	}
	zh := getproviders.ZH(sum)
	h1, ok := h.archives.KnownH1(zh)
	if !ok {
		return got, false
	}
	authentication, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum, H1: h1})
	if err != nil { // reading the package reports what is wrong
		return got, false
	}
	return receipt.Provenance{Authentication: authentication, H1: h1, ZH: zh, RegistryHashes: t.OtherRegistryHashes(trust)}, true
}

// recallListed is recall for a mirror that lists only an h1, as mirrors made by
// Terraform and OpenTofu do. That h1 counts directories in the archive, so it
// isn't the one for the lock file, but it identifies the archive's files.
func (h lockHasher) recallListed(trust getproviders.Trust) (receipt.Provenance, bool) {
	listed, ok := onlyH1(trust)
	if !ok {
		return receipt.Provenance{}, false
	}
	h1, ok := h.archives.KnownH1(listed)
	return receipt.Provenance{Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelVerifiedChecksum}, H1: h1}, ok
}

// onlyH1 returns the hash that a source lists, if it is the only one and an h1.
func onlyH1(trust getproviders.Trust) (getproviders.Hash, bool) {
	hashes, _ := trust.Authenticator.(getproviders.AnyHash)
	if len(hashes) != 1 || hashes[0].Scheme() != hashing.H1 {
		return "", false
	}
	return hashes[0], true
}

// remember records the hashes of a package that was read.
func (h lockHasher) remember(trust getproviders.Trust, got receipt.Provenance) {
	h.archives.RememberArchive(got.ZH, got.H1)
	if listed, ok := onlyH1(trust); ok && got.ZH != "" {
		h.archives.RememberListed(listed, got.H1)
	}
}

// With returns the package with the hashes of got. Only for
// packages of this module: got has an internal type.
func (p Package) With(got receipt.Provenance, state event.State) Package {
	p.H1, p.ZH, p.Authentication, p.State, p.registryHashes, p.Bytes = got.H1, got.ZH, got.Authentication, state, got.RegistryHashes, got.ArchiveBytes
	p.Hashes = hashing.Sort(append(slices.Clone(got.Authentication.Signed), got.H1))
	return p
}

// listed returns the package with the hashes that a source lists, and those that are signed.
func (p Package) listed(hashes []getproviders.Hash, signed getproviders.AuthenticationResult) Package {
	p.State, p.Authentication = event.Listed, signed
	p.Hashes = hashing.Sort(slices.Concat(hashes, signed.Signed))
	p.H1 = resolve.OfScheme(hashes, hashing.H1)[0]
	if zh := resolve.OfScheme(hashes, hashing.ZH); len(zh) > 0 {
		p.ZH = zh[0]
	}
	return p
}
