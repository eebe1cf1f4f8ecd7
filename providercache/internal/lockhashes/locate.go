package lockhashes

import (
	"context"
	"errors"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
)

// Locate finds the packages that Lock would read: where they are, and their
// known hashes. It downloads no archive; it reads one on this machine if its
// source lists no hashes. It loads the documents that authenticate packages,
// once for each version, because they have the hashes and the signatures.
//
// Results are in the order of the requests; a request that fails doesn't affect
// the others. The error joins those of all results, in the same order.
func Locate(ctx context.Context, f *fetch.Fetcher, requests ...Request) ([]Result, error) {
	sizes := slices.ContainsFunc(requests, func(r Request) bool { return r.Sizes })

	return answer(ctx, f, requests, work{
		begin:    func(context.Context, []Package) {},
		describe: func(ctx context.Context, p Package) (Package, error) { return describe(ctx, f, p) },
		find:     func(ctx context.Context, p Package) (Package, error) { return locate(ctx, f, p, sizes) },
		conclude: func(_ Request, c Choice, found map[string]Package) Result { return c.located(ctx, found) },
	})
}

// located picks the packages of one request.
func (c Choice) located(ctx context.Context, found map[string]Package) (result Result) {
	errs := slices.Clone(c.errs)
	for i, s := range c.Selections {
		for _, plat := range c.Platforms[i] {
			p := found[KeyOf(s, plat)]
			if p.Err != nil {
				p = Package{Outcome: event.Outcome{Err: resolve.OnPlatform(ctx, s, plat, p.Err)}}
				errs = append(errs, p.Err)
			}
			p.Selection, p.Platform = s, plat // constraints are each request's own
			result.Packages = append(result.Packages, p)
		}
	}
	slices.SortStableFunc(errs, ByProvider)
	result.Err = errors.Join(errs...)
	return result
}

// describe asks the source where a package is.
func describe(ctx context.Context, f *fetch.Fetcher, p Package) (Package, error) {
	t := fetch.Request{Selection: p.Selection}
	err := f.Describe(ctx, &t, p.Platform)
	p.Package = t.Package
	return p, err
}

// locate finds the known hashes of a described package.
func locate(ctx context.Context, f *fetch.Fetcher, found Package, sizes bool) (Package, error) {
	t := fetch.Request{Selection: found.Selection, Package: found.Package}

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
	if sizes || !download.IsRemote(found.Package.Location) {
		size, _, err := download.Ask(ctx, f.Client, found.Package.Location)
		if found.Bytes = max(size, 0); err != nil {
			return found, t.Failed(during.Fetch, err)
		}
	}
	return found, nil
}

// readLocal hashes a package on this machine if its source lists no hash.
func (p *Package) readLocal(ctx context.Context) (err error) {
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

// authenticate sets the expected hashes of the package, and authenticates them.
func (p *Package) authenticate(t fetch.Request, trust getproviders.Trust) (err error) {
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
