package providercache

import (
	"context"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// LockBegin comes first when packages are going to be looked at for lock files:
// each once, by platform and provider.
type LockBegin struct{ Packages []LockedPackage }

// LockFetch comes when a package is going to be read.
type LockFetch struct{ Package LockedPackage }

// LockDone comes when a package's hashes are known, or Err says why they aren't.
type LockDone struct {
	Package LockedPackage
	Err     error
}

func (LockBegin) event() {}
func (LockFetch) event() {}
func (LockDone) event()  {}

// hashed is what came of the work on one package.
type hashed struct {
	LockedPackage
	err error
}

// wantedPackages are those of all requests, each once. They stand in the order of
// platforms as they were asked for, and for each of them in that of providers.
func wantedPackages(chosen []choice) (wanted []LockedPackage) {
	rank := map[getproviders.Platform]int{}
	seen := map[packageKey]bool{}
	for _, c := range chosen {
		for i, s := range c.selections {
			for _, plat := range c.platforms[i] {
				if _, ok := rank[plat]; !ok {
					rank[plat] = len(rank)
				}
				if !seen[keyOf(s, plat)] {
					wanted = append(wanted, LockedPackage{Selection: s, Platform: plat})
				}
				seen[keyOf(s, plat)] = true
			}
		}
	}
	slices.SortStableFunc(wanted, func(a, b LockedPackage) int {
		if a.Platform != b.Platform {
			return rank[a.Platform] - rank[b.Platform]
		}
		return a.Selection.Provider.Compare(b.Selection.Provider)
	})
	return wanted
}

// hashAll finds the hashes of all packages.
func hashAll(ctx context.Context, f *Fetcher, wanted []LockedPackage) map[packageKey]hashed {
	f.emit(ctx, LockBegin{Packages: wanted})
	hasher := lockHasher{fetcher: f, archives: openArchives(f.stateDir())}
	found, errs := par.Map(ctx, f.Limits.withDefaults().Queries, wanted, func(ctx context.Context, p LockedPackage) (LockedPackage, error) {
		got, err := hasher.hash(ctx, p)
		f.emit(ctx, LockDone{Package: got, Err: err})
		return got, err
	})
	// What was learned is worth keeping even if the run was interrupted; that it
	// can't be kept costs time, later, and nothing else.
	_ = hasher.archives.save(context.WithoutCancel(ctx))
	results := make(map[packageKey]hashed, len(wanted))
	for i, p := range wanted {
		results[keyOf(p.Selection, p.Platform)] = hashed{found[i], errs[i]}
	}
	return results
}

// lockHasher finds the hashes of packages without installing them.
type lockHasher struct {
	fetcher  *Fetcher
	archives archives
}

// hash finds the hashes of one package: from the source, from what is
// remembered, or by reading the package.
func (h lockHasher) hash(ctx context.Context, p LockedPackage) (LockedPackage, error) {
	pkg, err := h.fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if err != nil {
		return p, p.Selection.failed(StepMetadata, err)
	}
	p.Source = pkg.Source
	t := task{Selection: p.Selection, Package: pkg}
	trust, err := t.loadTrust(ctx)
	if err != nil {
		return p, err
	}
	if got, ok := h.recall(t, trust); ok {
		return p.with(got, HashesRecalled), nil
	}
	if listed, signed, ok := h.believe(t, trust); ok {
		p.told = t.otherRegistryHashes(trust)
		return p.listed(listed, signed), nil
	}
	h.fetcher.emit(ctx, LockFetch{Package: p})
	got, err := h.fetcher.hashPackage(ctx, t)
	if err != nil {
		return p, err
	}
	h.remember(trust, got)
	return p.with(got, HashesComputed), nil
}

// believe returns the hashes that a source lists for a package, if they are to be
// believed, and what is signed beside them. Without an h1 they would be of no use
// to a product's plan. What vouches for the archive's checksum has to be as good as
// if the archive were here; otherwise reading the package tells what is wrong.
func (h lockHasher) believe(t task, trust getproviders.Trust) (hashes []getproviders.Hash, signed getproviders.AuthenticationResult, ok bool) {
	hashes = h.fetcher.HashPolicy.listed(trust)
	h1 := ofScheme(hashes, getproviders.SchemeH1)
	if len(h1) == 0 {
		return nil, signed, false
	}
	sum, _ := expectedBy(trust)
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
func (h lockHasher) recall(t task, trust getproviders.Trust) (genuine, bool) {
	sum, ok := expectedBy(trust)
	if !ok || trust.Authenticator == nil {
		return h.recallListed(trust)
	}
	zh := getproviders.ZH(sum)
	h1, ok := h.archives.knownH1(zh)
	if !ok {
		return genuine{}, false
	}
	authentication, err := trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum, H1: h1})
	if err != nil { // reading the package tells what is wrong
		return genuine{}, false
	}
	return genuine{Authentication: authentication, H1: h1, ZH: zh, Told: t.otherRegistryHashes(trust)}, true
}

// recallListed is recall for a mirror that lists nothing but an h1, as those do
// that the real tools make: theirs counts directories in the archive, so it isn't
// the one for the lock file, but no two archives with different files share it.
func (h lockHasher) recallListed(trust getproviders.Trust) (genuine, bool) {
	listed, ok := onlyH1(trust)
	if !ok {
		return genuine{}, false
	}
	h1, ok := h.archives.knownH1(listed)
	return genuine{Authentication: getproviders.AuthenticationResult{TrustLevel: getproviders.LevelVerifiedChecksum}, H1: h1}, ok
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
func (h lockHasher) remember(trust getproviders.Trust, got genuine) {
	h.archives.rememberArchive(got.ZH, got.H1)
	if listed, ok := onlyH1(trust); ok && got.ZH != "" {
		h.archives.rememberListed(listed, got.H1)
	}
}

// rememberListed is rememberArchive for an archive that is known by an h1 which
// may count its directories.
func (a archives) rememberListed(listed, h1 getproviders.Hash) {
	if known, ok := a.knownH1(listed); !ok || known != h1 {
		a.file.set(string(listed), []byte(h1))
	}
}

// with returns the package with what is known of it.
func (p LockedPackage) with(got genuine, from HashOrigin) LockedPackage {
	p.H1, p.ZH, p.Authentication, p.From, p.told = got.H1, got.ZH, got.Authentication, from, got.Told
	p.Hashes = getproviders.SortHashes(append(slices.Clone(got.Authentication.Signed), got.H1))
	return p
}

// listed returns the package with hashes that a source lists, and those that are
// signed.
func (p LockedPackage) listed(hashes []getproviders.Hash, signed getproviders.AuthenticationResult) LockedPackage {
	p.From, p.Authentication = HashesListed, signed
	p.Hashes = getproviders.SortHashes(slices.Concat(hashes, signed.Signed))
	p.H1 = ofScheme(hashes, getproviders.SchemeH1)[0]
	if zh := ofScheme(hashes, getproviders.SchemeZH); len(zh) > 0 {
		p.ZH = zh[0]
	}
	return p
}

// rememberArchives keeps what installed packages tell of their archives, so that
// a lock file for this platform costs no second download.
func rememberArchives(ctx context.Context, f *Fetcher, outcomes []Outcome) {
	if f.stateDir() == "" {
		return
	}
	known := openArchives(f.stateDir())
	for _, o := range outcomes {
		if o.Err == nil && o.placed.Receipt.ZH != "" {
			known.rememberArchive(o.placed.Receipt.ZH, o.H1)
		}
	}
	_ = known.save(ctx)
}
