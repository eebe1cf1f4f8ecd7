package lockhashes

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// LocatedPackage is a package as its source describes it.
type LocatedPackage struct {
	Selection getproviders.Selection
	Platform  getproviders.Platform
	Package   getproviders.Package
	ZH        getproviders.Hash   // of the archive; "" if it isn't known, or the package is a directory
	Hashes    []getproviders.Hash // sorted: ZH, and what else the source lists
	Size      int64               // of the archive, in bytes; -1 if that isn't known, or wasn't asked for
	// Authentication is the result for a package that has these hashes; zero if none
	// of them can be authenticated. Its Signed hashes are those of all platforms.
	Authentication getproviders.AuthenticationResult
	Err            error // nil, or a *getproviders.Fault; then only Selection, Platform and Size (-1) are set
}

// LocateOptions say what Locate finds out beside where packages are and which hashes they have.
type LocateOptions struct {
	// Sizes has servers asked for the first byte of each archive and the size of the
	// whole, which works for signed URLs that allow GET alone. Sizes of files on this
	// machine are returned in any case.
	Sizes bool
}

// LocateResult is the answer to one request of Locate.
type LocateResult struct {
	Packages []LocatedPackage // in the order of providers, for each in the order of platforms; failures included
	Err      error            // joins all failures
}

// Locate finds out which packages working directories need, where they are, and
// which hashes they have: the packages that Lock would read. No archive is
// downloaded; one on this machine is read if its source lists no hashes. The
// documents that authenticate packages are loaded, once for each version, because
// they hold the hashes and the signatures.
//
// Results are in the order of the requests, and the failure of one doesn't affect
// the others. The error joins those of all results, in the same order.
func Locate(ctx context.Context, f *fetch.Fetcher, opts LocateOptions, requests ...Request) ([]LocateResult, error) {
	results, failed := make([]LocateResult, len(requests)), make([]error, len(requests))
	chosen := chooseAll(ctx, f, requests)
	wanted := WantedPackages(chosen)
	found, errs := par.Map(ctx, f.Limits.Queries, wanted, func(ctx context.Context, p Package) (LocatedPackage, error) {
		return opts.locate(ctx, f, p.Selection, p.Platform)
	})
	located := make(map[PackageKey]LocatedPackage, len(wanted))
	for i, p := range wanted {
		if errs[i] != nil {
			found[i] = LocatedPackage{Size: -1, Err: resolve.OnPlatform(ctx, p.Selection, p.Platform, errs[i])}
		}
		located[KeyOf(p.Selection, p.Platform)] = found[i]
	}
	for i, c := range chosen {
		results[i] = c.located(located)
		failed[i] = results[i].Err
	}
	return results, errors.Join(failed...)
}

// located picks the packages that a request asks for.
func (c Choice) located(found map[PackageKey]LocatedPackage) (result LocateResult) {
	errs := slices.Clone(c.errs)
	for i, s := range c.Selections {
		for _, plat := range c.Platforms[i] {
			p := found[KeyOf(s, plat)]
			p.Selection, p.Platform = s, plat // constraints are each request's own
			if !s.Provider.IsBuiltIn() {
				result.Packages = append(result.Packages, p)
			}
			if p.Err != nil {
				errs = append(errs, p.Err)
			}
		}
	}
	slices.SortStableFunc(result.Packages, func(a, b LocatedPackage) int { return a.Selection.Provider.Compare(b.Selection.Provider) })
	slices.SortStableFunc(errs, ByProvider)
	result.Err = errors.Join(errs...)
	return result
}

// locate describes one package.
func (o LocateOptions) locate(ctx context.Context, f *fetch.Fetcher, s getproviders.Selection, plat getproviders.Platform) (found LocatedPackage, err error) {
	if s.Provider.IsBuiltIn() {
		return found, nil
	}
	found.Size = -1
	if found.Package, err = f.Source.Package(ctx, s.Provider, s.Version, plat); err != nil {
		return found, s.Failed(during.Metadata, err)
	}
	t := fetch.Request{Selection: s, Package: found.Package}
	trust, err := t.LoadTrust(ctx)
	if err != nil {
		return found, err
	}
	if err := found.authenticate(t, trust); err != nil {
		return found, err
	}
	if err := found.readLocal(ctx); err != nil {
		return found, t.Failed(during.Fetch, err)
	}
	if found.Size, err = o.archiveSize(ctx, f, found.Package.Location); err != nil {
		return found, t.Failed(during.Fetch, err)
	}
	return found, nil
}

// readLocal hashes a package on this machine if its source lists no hash.
func (p *LocatedPackage) readLocal(ctx context.Context) (err error) {
	var h1 getproviders.Hash
	switch at := p.Package.Location.(type) {
	case getproviders.LocalArchive:
		if p.ZH == "" {
			h1, p.ZH, err = fetch.HashPackage(ctx, string(at))
			p.Hashes = hashing.Sort(append(p.Hashes, h1, p.ZH))
		}
	case getproviders.LocalDirectory:
		if len(p.Hashes) == 0 {
			h1, _, err = fetch.HashPackage(ctx, string(at))
			p.Hashes = append(p.Hashes, h1)
		}
	}
	if err != nil {
		p.ZH, p.Hashes = "", nil
	}
	return err
}

// authenticate sets the hashes that the package has to have, and authenticates them.
func (p *LocatedPackage) authenticate(t fetch.Request, trust getproviders.Trust) (err error) {
	p.Hashes = slices.Clone(trust.ListedHashes)
	if sum, ok := fetch.ExpectedBy(trust); ok {
		p.ZH = getproviders.ZH(sum)
		p.Hashes = append(p.Hashes, p.ZH)
		if trust.Authenticator != nil {
			p.Authentication, err = trust.Authenticator.Authenticate(getproviders.Digests{SHA256: sum})
		}
	}
	if h1 := resolve.OfScheme(p.Hashes, hashing.H1); p.ZH == "" && len(h1) > 0 && trust.Authenticator != nil {
		p.Authentication, err = trust.Authenticator.Authenticate(getproviders.Digests{H1: h1[0]})
	}
	p.Hashes = hashing.Sort(p.Hashes)
	if err != nil {
		return t.Failed(during.Authenticate, err)
	}
	return nil
}

// archiveSize finds out how large an archive is; -1 if it is a directory, or its size
// isn't known.
func (o LocateOptions) archiveSize(ctx context.Context, f *fetch.Fetcher, at getproviders.Location) (int64, error) {
	switch at := at.(type) {
	case getproviders.LocalArchive:
		info, err := os.Stat(string(at))
		if err != nil {
			return -1, err
		}
		return info.Size(), nil
	case getproviders.HTTPArchive:
		if o.Sizes {
			return download.AskSize(ctx, f.Client, at)
		}
	case getproviders.Archive:
		if o.Sizes {
			return download.OpenedSize(ctx, at)
		}
	}
	return -1, nil
}
