package getproviders_test

import (
	"encoding/json"
	"runtime"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

func TestParsePlatform(t *testing.T) {
	for _, given := range []string{"linux_amd64", "windows_386", "darwin_arm64", "wasip1_wasm"} {
		p, err := getproviders.ParsePlatform(given)
		if err != nil || p.String() != given {
			t.Errorf("%q = %q, %v", given, p, err)
		}
	}
	for _, given := range []string{"", "linux", "_", "linux_", "_amd64", "linux_amd64_v3", "linux amd64", "linux_amd 64", "linux/amd64", "../_x", "linux_..", "linux-amd64", "linux_\u0661"} {
		if p, err := getproviders.ParsePlatform(given); err == nil {
			t.Errorf("%q was read as %q", given, p)
		}
	}
}

func TestCurrentPlatform(t *testing.T) {
	if got := getproviders.CurrentPlatform(); got.OS != runtime.GOOS || got.Arch != runtime.GOARCH {
		t.Errorf("got %s", got)
	}
}

func TestPlatforms_AreOrderedByText(t *testing.T) {
	sorted := []getproviders.Platform{{"darwin", "amd64"}, {"linux", "386"}, {"linux", "amd64"}, {"linux2", "amd64"}, {"linux", "arm64"}}
	// "2" comes before "_".
	slices.SortFunc(sorted, getproviders.Platform.Compare)
	want := []getproviders.Platform{{"darwin", "amd64"}, {"linux2", "amd64"}, {"linux", "386"}, {"linux", "amd64"}, {"linux", "arm64"}}
	if !slices.Equal(sorted, want) {
		t.Errorf("got %v", sorted)
	}
}

func TestPlatform_SurvivesJSON(t *testing.T) {
	want := []getproviders.Platform{{}, {"linux", "amd64"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []getproviders.Platform
	if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s was read as %v, %v", text, got, err)
	}
	if err := json.Unmarshal([]byte(`["linux"]`), &got); err == nil {
		t.Error("half a platform was read")
	}
}
