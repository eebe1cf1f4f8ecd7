package initcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// The shared cache is looked after once a day, by the time of a file in the directory for state. What takes longer than
// maintainFor is left to the next init; each removes one package at least.
const (
	maintainEvery   = 24 * time.Hour
	maintainFor     = 50 * time.Millisecond
	maintainedStamp = "cache-maintained"
	unusedAfter     = 90 * 24 * time.Hour
	gcAfter         = 30 * 24 * time.Hour // cache gc, without options
)

// lookAfter removes from the user's own cache what no directory has used for a long time, and what is more than -cache-max-size. What
// can't be removed stays.
func lookAfter(r request) {
	m, stamp := r.Meta, filepath.Join(r.Meta.StateDir, maintainedStamp)
	for config, cache := range r.Caches() {
		if _, err := os.Stat(m.StateDir); cache == nil || m.StateDir == "" || err != nil || !sources.IsOwnCache(m, config) {
			continue
		}
		if info, err := os.Stat(stamp); err == nil && m.Now().Sub(info.ModTime()).Abs() < maintainEvery {
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
				m.Log.Info("the shared cache is maintained", "package", p.Name(), "last_use", p.LastUse, "freed", done.Freed, "error", err)
			}
		}
		now := m.Now()
		if os.WriteFile(stamp, nil, 0o600) == nil {
			_ = os.Chtimes(stamp, now, now)
		}
		return
	}
}

// explainSpace adds to an error about a full disk what cache gc would free.
func (in *installation) explainSpace(err error) {
	for _, part := range getproviders.SplitErrors(err) {
		full := getproviders.FaultOf(part, getproviders.ErrNoSpace)
		if full == nil || full.Hint != "" || in.cache == nil {
			continue
		}
		kept := in.Maintenance(in.cache)
		would, err := kept.Collect(in.Meta.Context, providercache.CollectPolicy{OlderThan: gcAfter}, providercache.RemoveOptions{DryRun: true})
		if err == nil {
			full.Hint = fmt.Sprintf("make room there, or put the packages on another disk; %s would be free without the packages of %s that no directory has used for 30 days",
				terminal.Megabytes(would.Freed), in.cache.Dir)
		}
	}
}

// notShared warns that packages are for this directory alone, because the cache that the user named
// can't be written to. As long as it has all that is needed, that is no reason for a warning.
func (in *installation) notShared(report providercache.Report) {
	cache := in.cache
	alone := slices.ContainsFunc(report.Outcomes, func(o providercache.Outcome) bool {
		return o.State == event.Fetched && o.Link == providercache.LinkAuto && !o.Provider.IsBuiltIn()
	})
	if cache == nil || !cache.Shared || !alone {
		return
	}
	made, err := scratch.MakeDirs(cache.Dir) // packages that a mirror has unpacked are linked past it
	defer scratch.RemoveEmpty(made)
	if err == nil {
		var probe *scratch.Dir
		if probe, err = scratch.Make(cache.Dir); err == nil {
			probe.Remove()
			return
		}
	}
	in.Log.Warningf("cache_failed", "The shared cache can't be written to",
		"Packages that the cache lacks were fetched for this directory alone: %v.\n\nTF_PLUGIN_CACHE_DIR or plugin_cache_dir of the CLI configuration "+
			"names the cache. Correct its permissions, or name another directory.", err)
}
