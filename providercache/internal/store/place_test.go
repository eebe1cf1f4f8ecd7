package store

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

// What other users can exchange is named by its outermost directory, and packages by themselves.
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
