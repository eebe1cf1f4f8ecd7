package fetch

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// The directory of a zip archive says how large its files are. An attacker can make the sum of
// these sizes small, and their number large.
func TestCheckZip_AddsUpSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sizes []uint64
		fits  bool
	}{
		"as much as may be": {[]uint64{60, 40}, true},
		"one too many":      {[]uint64{60, 40, 1}, false},
		"one alone":         {[]uint64{101}, false},
		"overflow":          {[]uint64{1 << 63, 1 << 63, 1}, false},
		"negative":          {[]uint64{1<<64 - 1, 2}, false},
	} {
		file := filepath.Join(t.TempDir(), "archive.zip")
		must.Write(t, file, zippedSizes(t, "", c.sizes...))
		must.Equal(t, checkZip(file, bounds{unpacked: 100}) == nil, c.fits, name)
	}
}
