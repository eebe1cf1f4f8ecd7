package store_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

func TestMain(m *testing.M) {
	peertest.UsualUmask()
	goleak.VerifyTestMain(m)
}

// What the tests of providers' packages share, under short names.
var (
	h1Of          = installtest.H1Of
	installBoth   = installtest.InstallBoth
	linux         = installtest.Linux
	lockOf        = installtest.LockOf
	succeed       = must.Succeed
	packageHashes = installtest.PackageHashes
	provider      = installtest.Provider
	write         = cachetest.WriteTo
	zhOfBytes     = installtest.ZHOf
	zipOf         = installtest.ZipOf
)
