package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// A place that other users can exchange is named by its outermost
// directory; packages are named one by one.
func TestPlace_SaysWhatOthersCanChange(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	outer := filepath.Join(base, "outer")
	cache := &Store{Dir: filepath.Join(outer, "cache")}
	must.Succeed(t, os.Mkdir(outer, 0o700))
	if p := cache.Place(); p.Exists || p.Dir != outer || p.Exposed != "" {
		t.Errorf("before it is made: %+v", p)
	}
	p := Package{
		Provider: getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "aaa"}, Version: getproviders.MustParseVersion("1.0.0"), Platform: getproviders.CurrentPlatform(),
	}
	p.Dir = cache.PackagePath(p.Provider, p.Version, p.Platform)
	must.Succeed(t, os.MkdirAll(p.Dir, 0o700))
	file := filepath.Join(p.Dir, "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	maintenance := &Maintenance{Cache: cache, StateDir: filepath.Join(base, "state"), Now: time.Now}
	if at := cache.Place(); !at.Exists || at.Dir != cache.Dir || at.Exposed != "" || at.Free == 0 {
		t.Errorf("of this user alone: %+v", at)
	}
	must.Len(t, maintenance.Exposed([]Package{p}), 0)
	if runtime.GOOS == "windows" { // where a file has the access list of its directory
		file = p.Dir
	}
	must.Succeed(t, cachetest.OpenToAll(file))
	must.Len(t, maintenance.Exposed([]Package{p}), 1)
	must.Succeed(t, cachetest.OpenToAll(cache.Dir))
	must.Equal(t, cache.Place().Exposed, cache.Dir)
	if runtime.GOOS != "windows" { // where the list of a directory says all
		must.Succeed(t, cachetest.OpenToAll(outer))
		must.Equal(t, cache.Place().Exposed, outer)
	}
}

func TestHasRoom_KnowsHowLongPathsMayBe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		goos   string
		length int
		fits   bool
	}{{"linux", 4095 - packageRoom, true}, {"linux", 4096 - packageRoom, false}, {"darwin", 1023 - packageRoom, true}, {"darwin", 1024 - packageRoom, false}, {"windows", 5000, true}} {
		must.Equal(t, hasRoom(strings.Repeat("d", test.length), test.goos) == nil, test.fits, test.length, test.goos)
	}
}

// The colon of a port is for drives and streams on Windows, and some names are those of devices.
func TestHolds_KnowsWhatWindowsCantName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider getproviders.Provider
		goos     string
		held     bool
	}{
		{getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "widget"}, "windows", true},
		{getproviders.Provider{Hostname: "example.com:8443", Namespace: "acme", Type: "widget"}, "windows", false},
		{getproviders.Provider{Hostname: "example.com", Namespace: "aux", Type: "widget"}, "windows", false},
		{getproviders.Provider{Hostname: "example.com", Namespace: "acme", Type: "com1"}, "windows", false},
		{getproviders.Provider{Hostname: "example.com:8443", Namespace: "aux", Type: "com1"}, "linux", true},
	} {
		err := Holds(test.provider, test.goos)
		must.Equal(t, err == nil, test.held, test.provider, test.goos)
		if err != nil {
			must.Contain(t, err, test.provider.String())
		}
	}
}
