package initcmd

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/providercache"
)

// The shared cache is maintained once a day, by the mtime of a stamp file in the state directory. After
// maintainFor the next init continues; each removes at least one package.
const (
	maintainEvery   = 24 * time.Hour
	maintainFor     = 50 * time.Millisecond
	maintainedStamp = "cache-maintained"
	unusedAfter     = 90 * 24 * time.Hour
)

// lookAfter removes from the default cache packages that no directory has used for unusedAfter, and the least recently used ones above
// -cache-max-size. It ignores errors.
func lookAfter(r request) {
	m, stamp := r.Meta, filepath.Join(r.Meta.StateDir, maintainedStamp)
	for config, cache := range r.Caches() {
		if cache == nil || m.StateDir == "" || !sources.IsOwnCache(m, config) {
			continue
		}
		if info, err := os.Stat(stamp); err == nil && m.Now().Sub(info.ModTime()).Abs() < maintainEvery {
			return
		}
		if _, err := os.Stat(m.StateDir); err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(m.Context, maintainFor)
		defer cancel()
		kept := r.Maintenance(cache)
		would, err := kept.Collect(m.Context, providercache.CollectPolicy{OlderThan: unusedAfter, MaxBytes: r.opts.cacheMaxSize}, providercache.RemoveOptions{DryRun: true})
		if err != nil {
			return
		}
		for i, p := range would.Removed {
			if i > 0 && ctx.Err() != nil {
				return
			}
			done, err := kept.Remove(m.Context, []providercache.StoredPackage{p}, providercache.RemoveOptions{})
			if m.Log != nil {
				m.Log.Info("removing a package from the shared cache", "package", p.Name(), "last_use", p.LastUse, "freed", done.Freed, "error", err)
			}
		}
		now := m.Now()
		if os.WriteFile(stamp, nil, 0o600) == nil {
			_ = os.Chtimes(stamp, now, now)
		}
		return
	}
}
