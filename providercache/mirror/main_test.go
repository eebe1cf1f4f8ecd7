package mirror_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestMain(m *testing.M) {
	peertest.UsualUmask()
	peertest.MoreAtOnce()
	goleak.VerifyTestMain(m)
}

// What the tests of providers' packages share, under short names.
const (
	registryHost = installtest.RegistryHost
)

const widgetAddress = registryHost + "/acme/widget"

var (
	onLinux        = []getproviders.Platform{linux}
	constraints    = installtest.Constraints
	exampleSource  = installtest.ExampleSource
	files          = installtest.Files
	install        = installtest.Install
	linux          = installtest.Linux
	lockOne        = installtest.LockOne
	lockable       = installtest.Lockable
	succeed        = must.Succeed
	newInstaller   = installtest.NewInstaller
	newRegistry    = installtest.NewRegistry
	newSource      = installtest.NewSource
	otherPlatforms = installtest.OtherPlatforms
	product        = installtest.Product
	provider       = installtest.Provider
	read           = installtest.Read
	registrySource = installtest.RegistrySource
	require        = installtest.Require
	version        = installtest.Version
	widget         = provider(widgetAddress)
	write          = cachetest.WriteTo
	zipOf          = installtest.ZipOf
)
