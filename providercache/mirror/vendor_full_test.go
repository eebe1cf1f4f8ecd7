//go:build linux || windows

package mirror_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestVendoring_AFullDiskLeavesWhatIsVendored vendors a package that is too large for a file
// system of 64 KiB that has another one already.
func TestVendoring_AFullDiskLeavesWhatIsVendored(t *testing.T) {
	t.Parallel()
	for _, unpacked := range []bool{false, true} {
		disk := installtest.SmallDisk(t, "64k")
		v := vendoringOf(t)
		v.opts.Dir, v.opts.Unpacked = filepath.Join(disk, "plugins"), unpacked
		v.request.Platforms = []getproviders.Platform{linux}
		_, err := v.run(t)
		succeed(t, err)
		before := files(t, disk)
		noise := make([]byte, 100<<10) // random bytes, so that the archive is as large
		_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
		v.registry.Add(providertest.PackageSpec{
			Namespace: "acme", Type: "large", Version: "1.0.0", Platform: linux,
			Archive: zipOf(t, map[string]string{"terraform-provider-large": string(noise)}),
		})
		v.opts.Prune = true
		v.request.Requirements = require(registryHost+"/acme/large", "1.0.0")
		if _, err = v.run(t); !errors.Is(err, installtest.ErrDiskFull) {
			t.Errorf("%v", err)
		}
		must.EqualSlices(t, files(t, disk), before)
	}
}
