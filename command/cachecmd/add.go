package cachecmd

import (
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// sourceDateVariable has the time of files in reproducible builds, in seconds since
// 1970.
const sourceDateVariable = "SOURCE_DATE_EPOCH"

// systemCacheDir is the directory of the cache in an image.
const systemCacheDir = "/usr/share/tfdeps"

// addOptions are the parsed arguments of cache add.
type addOptions struct {
	options
	paths    []string // of -locked, and the operands; nil without -locked
	system   bool
	mirrors  []string // of -mirror
	wanted   []getproviders.PackageSpec
	made     time.Time             // the mtime of files in an image
	platform getproviders.Platform // the platform of the packages that are being added
}

func (o *addOptions) take() (err error) {
	switch {
	case o.paths != nil:
		o.paths = append(o.paths, o.Operands...)
	case len(o.Operands) == 0:
		return cli.Misusedf("cache add needs providers, or -locked with directories that have lock files")
	default:
		if o.wanted, err = parseWanted(o.Operands, o.Product); err != nil {
			return err
		}
	}
	if o.system && o.dir == "" {
		o.dir = systemCacheDir
	}
	o.made = time.Unix(315532800, 0) // 1980, the earliest time in zip archives
	if given := o.Meta.Env.Get(sourceDateVariable); given != "" {
		seconds, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return cli.Usagef("the value of %s is %q, and has to be a number of seconds", sourceDateVariable, given)
		}
		o.made = time.Unix(seconds, 0)
	}
	return nil
}

// Report puts packages into the cache; the report is nil after an error before that.
func (o *addOptions) Report() (*result.Result, error) {
	if err := o.take(); err != nil {
		return nil, err
	}
	if o.show(); !o.open() {
		return nil, nil
	}
	if o.paths != nil {
		o.wanted, _ = o.locked(o.paths)
	}
	if !o.Log.Add() {
		return nil, nil
	}
	all, ok := o.OpenSources(o.mirrors, cliconfig.SourceOptions{Cached: o.cached})
	if !ok {
		return nil, nil
	}
	o.Source = all
	filled := o.fill()
	o.Log.Add(o.activity.End()...)
	var receipts *bool
	if o.system {
		receipts = new(o.finalize(filled))
	}
	outcomes := result.Each(filled, func(f providercache.Prefetched) providercache.Outcome { return f.Outcome })
	return result.CacheFilling(o.cache, outcomes, receipts, o.activity.Span), nil
}

// installer returns an installer for o.platform.
func (o *addOptions) installer() *providercache.Installer {
	f := o.Fetcher(o.activity.Observe)
	if f.Platform = o.platform; o.system {
		f.StateDir = "" // Finalize writes the receipts for an image beside its cache
	}
	installer := &providercache.Installer{Fetcher: f, Cache: o.cache}
	f.Policy = o.Policy.Against(nil, func(p getproviders.Provider) getproviders.Version {
		return sources.Newest(installer.KnownPackages(p), func(getproviders.Version) bool { return !o.isPinned(p) })
	})
	return installer
}

// isPinned reports whether an argument has a version of the provider, which then doesn't count as a downgrade.
func (o *addOptions) isPinned(p getproviders.Provider) bool {
	return slices.ContainsFunc(o.wanted, func(w getproviders.PackageSpec) bool {
		return w.Provider == p && !w.Version.IsZero()
	})
}

// cached returns the packages on this machine, for -offline.
func (o *addOptions) cached(p getproviders.Provider) []getproviders.CachedPackage {
	return o.installer().KnownPackages(p)
}

// fill fetches missing packages, one platform after the other.
func (o *addOptions) fill() (filled []providercache.Prefetched) {
	for _, o.platform = range o.platforms {
		o.activity.Platform(o.platform)
		more, err := o.installer().Prefetch(o.Meta.Context, o.wanted)
		filled = append(filled, more...)
		if err != nil {
			o.Log.Add(o.InstallProblems(getproviders.Requirements{}, err, nil)...)
		}
	}
	return filled
}

// finalize makes the cache ready for an image. receipts says whether it has written receipts, which
// it does if only root can write to the cache.
func (o *addOptions) finalize(filled []providercache.Prefetched) (receipts bool) {
	receipts, err := o.installer().Finalize(o.Meta.Context, filled, filepath.Clean(o.dir), o.made)
	if err != nil {
		return o.failed("Failed to make the cache fit for an image", err)
	}
	if !receipts {
		o.Log.Warningf("", "No receipts",
			"Users other than root can write to %s or to a directory above it, so no receipts were written: "+
				"the first run that uses the packages reads and hashes them. Make these directories writable for root alone.", o.cache.Dir)
	}
	return receipts
}
