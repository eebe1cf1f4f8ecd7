package providercache_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(dieVariable); where != "" {
		die(where)
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
	needsReceipts   = installtest.NeedsReceipts
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
	write           = installtest.Write
	zhOfBytes       = installtest.ZHOf
	zipOf           = installtest.ZipOf
)

type (
	expected     = installtest.Expected
	listedHashes = installtest.ListedHashes
	memorySource = installtest.Source
	trust        = installtest.Trust
)
