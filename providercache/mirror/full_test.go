//go:build linux || windows

package mirror_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestMirror_AFullDiskLeavesTheMirrorWhole fills a mirror on a file system of 64 KiB that has one
// package already.
func TestMirror_AFullDiskLeavesTheMirrorWhole(t *testing.T) {
	disk := installtest.SmallDisk(t, "64k")
	m := newMirroring(t)
	m.dir = filepath.Join(disk, "mirror")
	large := providertest.PackageSpec{Namespace: "acme", Type: "large", Version: "1.0.0", Platform: linux}
	noise := make([]byte, 100<<10) // random bytes, so that the archive is as large
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	large.Archive = zipOf(t, map[string]string{"terraform-provider-large": string(noise)})
	m.registry.Add(large)
	m.opts.Platforms = nil
	must.Get(m.run(t, want("widget")...))(t)
	_, err := m.run(t, want("large", "widget")...)
	failed, ok := getproviders.Failure(err)
	if !ok || failed.Provider.Type != "large" || !errors.Is(err, installtest.ErrDiskFull) {
		t.Errorf("%v", err)
	}
	must.Get(os.Stat(m.file("widget/index.json")))(t)
	must.Len(t, m.files(t), 3+3)
}
