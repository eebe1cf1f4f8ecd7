//go:build linux || windows

package mirror_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// tooLarge is a package that a file system of 64 KiB doesn't hold.
func tooLarge(t *testing.T) providertest.PackageSpec {
	return providertest.PackageSpec{Namespace: "acme", Type: "large", Version: "1.0.0", Platform: linux,
		Archive: zipOf(t, map[string]string{"terraform-provider-large": installtest.Noise(100 << 10)})}
}

// TestMirror_AFullDiskLeavesTheMirrorWhole fills a mirror on a file system of 64 KiB that has one
// package already.
func TestMirror_AFullDiskLeavesTheMirrorWhole(t *testing.T) {
	disk := installtest.SmallDisk(t, "64k")
	m := newMirroring(t)
	m.dir = filepath.Join(disk, "mirror")
	m.registry.Add(tooLarge(t))
	m.opts.Platforms = nil
	m.fill("widget")
	_, err := m.run(want("large", "widget")...)
	must.Fail(t, err, installtest.ErrDiskFull)
	failed, _ := getproviders.Failure(err)
	must.Equal(t, failed.Provider.Type, "large")
	must.Get(os.Stat(m.file("widget/index.json")))(t)
	must.Len(t, m.files(), 3+3)
}

// TestVendoring_AFullDiskLeavesWhatIsVendored vendors a package that is too large for a file
// system of 64 KiB that has another one already.
func TestVendoring_AFullDiskLeavesWhatIsVendored(t *testing.T) {
	t.Parallel()
	for _, unpacked := range []bool{false, true} {
		disk := installtest.SmallDisk(t, "64k")
		v := vendoringOf(t)
		v.opts.Dir, v.opts.Unpacked = filepath.Join(disk, "plugins"), unpacked
		v.request.Platforms = []getproviders.Platform{linux}
		v.fill()
		before := files(t, disk)
		v.registry.Add(tooLarge(t))
		v.opts.Prune = true
		v.request.Requirements = require(registryHost+"/acme/large", "1.0.0")
		must.Fail(t, must.ErrorOf(v.run()), installtest.ErrDiskFull)
		must.EqualSlices(t, files(t, disk), before)
	}
}
