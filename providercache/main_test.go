package providercache_test

import (
	"os"
	"path/filepath"
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
)

func TestMain(m *testing.M) {
	if where := os.Getenv(dieVariable); where != "" {
		die(where)
	}
	if os.Getenv(restVariable) != "" {
		rest()
		return
	}
	peertest.UsualUmask()
	peertest.MoreAtOnce()
	goleak.VerifyTestMain(m)
}

// What the tests of providers' packages share, under short names.
const (
	registryHost = installtest.RegistryHost
	wrongH1      = installtest.WrongH1
)

var (
	attempt         = installtest.Attempt
	constraints     = installtest.Constraints
	errRefused      = installtest.ErrRefused
	everyPlatform   = installtest.EveryPlatform
	exampleSource   = installtest.ExampleSource
	files           = installtest.Files
	h1Of            = installtest.H1Of
	httpArchive     = installtest.HTTPArchive
	impatient       = installtest.Impatient
	impatientFor    = installtest.ImpatientFor
	install         = installtest.Install
	installed       = installtest.Installed
	linux           = installtest.Linux
	lockOf          = installtest.LockOf
	lockOne         = installtest.LockOne
	succeed         = must.Succeed
	newInstaller    = installtest.NewInstaller
	newRegistry     = installtest.NewRegistry
	newSource       = installtest.NewSource
	newUser         = installtest.NewUser
	noise           = installtest.Noise
	nothingLeft     = installtest.NothingLeft
	otherPlatforms  = installtest.OtherPlatforms
	packageDir      = installtest.PackageDir
	packageHashes   = installtest.PackageHashes
	product         = installtest.Product
	provider        = installtest.Provider
	providerErrors  = installtest.ProviderErrors
	read            = installtest.Read
	registrySource  = installtest.RegistrySource
	require         = installtest.Require
	tellingRegistry = installtest.ListingRegistry
	tree            = installtest.Tree
	version         = installtest.Version
	write           = cachetest.WriteTo
	zhOfBytes       = installtest.ZHOf
	zipOf           = installtest.ZipOf
)

type (
	expected     = installtest.Expected
	fault        = providertest.Fault
	listedHashes = installtest.ListedHashes
	memorySource = installtest.Source
	trust        = installtest.Trust
)

var (
	acmeWidget = provider("acme/widget")
	widgets    = require("acme/widget", "")
	hosted     = require(widgetAddress, "")
	v1         = version("1.0.0")
	onLinux    = []getproviders.Platform{linux}
)

// parallelSource returns an empty source for a parallel test.
func parallelSource(t *testing.T) *memorySource {
	t.Parallel()
	return newSource(t)
}

// widgetSource is newWidgetSource for a parallel test.
func widgetSource(t *testing.T) *memorySource {
	t.Parallel()
	return newWidgetSource(t)
}

// newWidgetSource is a source with acme/widget 1.0.0.
func newWidgetSource(tb testing.TB) *memorySource {
	source := newSource(tb)
	source.AddZip(tb, "acme/widget", "1.0.0")
	return source
}

// widgetIn is the program of acme/widget 1.0.0 in a directory of packages.
func widgetIn(root string) string {
	return filepath.Join(root, packageDir("acme/widget", "1.0.0"), "terraform-provider-widget")
}

// needsReceipts skips a test where receipts aren't kept. It runs beside others.
func needsReceipts(t *testing.T) {
	t.Parallel()
	installtest.NeedsReceipts(t)
}

// storeIn is a store in a directory, whose path may be given in parts.
func storeIn(path ...string) *providercache.Store {
	return &providercache.Store{Dir: filepath.Join(path...)}
}

// entry is an entry of a lock file.
func entry(address, v string, hashes ...getproviders.Hash) depsfile.Lock {
	return depsfile.Lock{Provider: provider(address), Version: version(v), Hashes: hashes}
}
