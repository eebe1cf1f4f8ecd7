package command

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// cacheAdd is one run of cache add.
type cacheAdd struct {
	*Meta
	addOptions
	product getproviders.Product
	cache   *providercache.Store
	cli     *cliconfig.Config
	made    time.Time // what files of an image are to say of their age

	hosts  network
	source getproviders.Source
	plat   getproviders.Platform // whose packages are being looked for
}

// all does what the command is for.
func (a *cacheAdd) all() (problems view.Problems) {
	if a.product, problems = a.Meta.productOf(); problems.HasErrors() {
		return problems
	}
	a.cache, a.cli, problems = a.place.find(a.Meta)
	if a.locked != nil {
		locked, unreadable := readLocked(a.locked, a.unversioned())
		a.wanted, problems = providercache.WantedBy(locked), append(problems, unreadable...)
	}
	if problems.HasErrors() {
		return problems
	}
	if problems = append(problems, a.connect()...); problems.HasErrors() {
		return problems
	}
	result := view.CacheFilling{Cache: a.cache}
	var failed view.Problems
	result.Filled, failed = a.fill()
	problems = append(problems, failed...)
	if a.system {
		receipts, unfit := a.seal(result.Filled)
		result.Receipts, problems = &receipts, append(problems, unfit...)
	}
	return append(problems, a.report(result, a.json)...)
}

// connect makes the sources that the CLI configuration names.
func (a *cacheAdd) connect() view.Problems {
	sameHost, problems := a.sameHostCredentials()
	var unreached view.Problems
	a.hosts, unreached = a.reachable(a.offlineBy, a.product, a.cli, sameHost)
	if problems = append(problems, unreached...); problems.HasErrors() {
		return problems
	}
	var err error
	a.source, err = a.sources(sourceOptions{network: a.hosts, cli: a.cli, product: a.product, kept: a.kept})
	if err != nil {
		problems = append(problems, view.NewError("Can't search for providers", err.Error()))
	}
	return problems
}

// kept tells which packages are on this machine, where nobody else may be asked.
func (a *cacheAdd) kept(p getproviders.Provider) []getproviders.CachedPackage {
	return a.installer().KnownPackages(p)
}

// installer makes what fetches.
func (a *cacheAdd) installer() *providercache.Installer {
	state := a.StateDir
	if a.system {
		state = "" // what is known of an image stands beside it
	}
	return &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: a.source, Client: a.hosts.Archives, Product: a.product, Platform: a.plat, Now: a.Now, StateDir: state},
		Cache:   a.cache,
	}
}

// fill fetches what isn't there, for one platform after the other.
func (a *cacheAdd) fill() (filled []providercache.Filled, problems view.Problems) {
	for _, a.plat = range a.platforms {
		more, err := a.installer().Fill(a.Context, a.wanted)
		filled = append(filled, more...)
		if err != nil {
			problems = append(problems, view.InstallProblems(a.product, getproviders.Requirements{}, err, nil)...)
		}
	}
	return filled, problems
}

// seal makes of the cache what an image is to have, with receipts if they can
// count.
func (a *cacheAdd) seal(filled []providercache.Filled) (receipts bool, problems view.Problems) {
	receipts, err := a.cache.Seal(a.Context, filled, filepath.Clean(a.place.dir), a.made)
	if err != nil {
		return false, view.Problems{view.NewError("Failed to make the cache fit for an image", err.Error())}
	}
	if !receipts {
		problems = append(problems, view.NewWarning("No receipts", fmt.Sprintf(
			"Somebody else than root can write to %s or to a directory above it. So nothing could be trusted that is noted "+
				"about the packages, and nothing was: whoever uses them first reads and hashes them.", a.cache.Dir)))
	}
	return receipts, problems
}
