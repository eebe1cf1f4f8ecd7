package getproviders

import (
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestParsePlatform(t *testing.T) {
	for _, given := range []string{"linux_amd64", "windows_386", "darwin_arm64", "wasip1_wasm"} {
		must.Equal(t, must.Get(ParsePlatform(given))(t).String(), given, given)
	}
	for _, given := range []string{"", "linux", "_", "linux_", "_amd64", "linux_amd64_v3", "linux amd64", "linux_amd 64", "linux/amd64", "../_x", "linux_..", "linux-amd64", "linux_\u0661"} {
		must.Refuse(ParsePlatform(given))(t, given)
	}
}

func TestPlatforms_AreOrderedByText(t *testing.T) {
	sorted := []Platform{{"darwin", "amd64"}, {"linux", "386"}, {"linux", "amd64"}, {"linux2", "amd64"}, {"linux", "arm64"}}
	// "2" comes before "_".
	slices.SortFunc(sorted, Platform.Compare)
	must.EqualSlices(t, sorted, []Platform{{"darwin", "amd64"}, {"linux2", "amd64"}, {"linux", "386"}, {"linux", "amd64"}, {"linux", "arm64"}})
}
