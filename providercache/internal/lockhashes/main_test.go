package lockhashes_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

func TestMain(m *testing.M) {
	peertest.UsualUmask()
	goleak.VerifyTestMain(m)
}

// What the tests of providers' packages share, under short names.
const (
	registryHost = installtest.RegistryHost
	wrongH1      = installtest.WrongH1
)

var (
	errRefused      = installtest.ErrRefused
	everyPlatform   = installtest.EveryPlatform
	h1Of            = installtest.H1Of
	httpArchive     = installtest.HTTPArchive
	install         = installtest.Install
	installed       = installtest.Installed
	linux           = installtest.Linux
	lockOne         = installtest.LockOne
	lockable        = installtest.Lockable
	succeed         = must.Succeed
	newInstaller    = installtest.NewInstaller
	newRegistry     = installtest.NewRegistry
	newSource       = installtest.NewSource
	newUser         = installtest.NewUser
	nothingLeft     = installtest.NothingLeft
	otherPlatforms  = installtest.OtherPlatforms
	product         = installtest.Product
	provider        = installtest.Provider
	providerErrors  = installtest.ProviderErrors
	registrySource  = installtest.RegistrySource
	require         = installtest.Require
	tellingRegistry = installtest.ListingRegistry
	tree            = installtest.Tree
	version         = installtest.Version
	write           = cachetest.WriteTo
	zipOf           = installtest.ZipOf
)

type (
	listedHashes = installtest.ListedHashes
	trust        = installtest.Trust
)

const widgetAddress = registryHost + "/acme/widget"

var (
	acmeWidget = provider("acme/widget")
	v1         = version("1.0.0")
	onLinux    = []getproviders.Platform{linux}
)

// parallelSource returns an empty source for a parallel test.
func parallelSource(t *testing.T) *installtest.Source {
	t.Parallel()
	return newSource(t)
}

// widgetSource is one with acme/widget 1.0.0.
func widgetSource(t *testing.T) *installtest.Source {
	source := parallelSource(t)
	source.AddZip(t, "acme/widget", "1.0.0")
	return source
}

// lockableRegistry has version 1.0.0 of some of acme's providers for three platforms. The test runs beside others.
func lockableRegistry(t *testing.T, names ...string) (*providertest.Registry, *providercache.Installer) {
	t.Parallel()
	registry, in := newRegistry(t)
	for _, name := range names {
		lockable(t, registry, name, "1.0.0")
	}
	return registry, in
}

// lock answers one request, and locate another.
func lock(t *testing.T, in *providercache.Installer, r lockhashes.Request) lockhashes.Result {
	return installtest.First(in.Fetcher.Lock(t.Context(), r))
}

func locate(t *testing.T, in *providercache.Installer, r lockhashes.Request) lockhashes.Result {
	return installtest.First(in.Fetcher.Locate(t.Context(), r))
}

func encoded(locks *depsfile.Locks) string { return string(locks.Encode(product)) }
