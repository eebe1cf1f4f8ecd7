package doctorcmd

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wrapped"
	"github.com/tfdeps/tfdeps/providercache"
)

// fewBytes is the minimum of free space before a warning: one large provider takes more, unpacked.
const fewBytes = 1_000_000_000

// describeCache examines the shared cache.
func (x *examination) describeCache() {
	m, c := x.Meta, &x.cache
	c.NamedBy = sources.CacheNamedBy(m, x.Config)
	if c.NamedBy == "plugin_cache_dir" {
		for _, s := range x.Config.Settings {
			if s.Name == c.NamedBy {
				c.NamedBy += " (" + s.Place() + ")"
				break
			}
		}
	}
	if off, err := cli.ParseSwitch("TFDEPS_NO_SHARED_CACHE", m.Env.Get("TFDEPS_NO_SHARED_CACHE")); err != nil {
		x.Log.Failed("invalid_variable", "Invalid value of TFDEPS_NO_SHARED_CACHE", err)
	} else if off {
		c.NamedBy = "TFDEPS_NO_SHARED_CACHE"
		return
	}
	before := len(x.Log.All)
	cache, ok := x.FindCache("")
	if !ok {
		x.Log.All = append(x.Log.All[:before], problem.AsWarnings(x.Log.All[before:])...) // init installs without a cache
		return
	}
	place := cache.Place()
	c.Directory, c.Usable, c.Exists = cache.Dir, true, place.Exists
	if place.Free >= 0 {
		c.Free = &place.Free
	}
	c.FileSystem, c.KeepsTimes, c.Exposed, c.Receipts = place.FileSystem, place.KeepsTimes, place.Exposed, (&providercache.Fetcher{StateDir: m.StateDir}).Opened().StateDir
	x.describePackages(x.Maintenance(cache))
	x.describeLinks(cache, place)
	if c.Exposed != "" {
		x.Log.Warningf("cache_failed", "Other users can change the shared cache",
			"Other users can replace files in %s, so tfdeps reads the whole package at each use. If the cache is meant for this user alone, run:\n  chmod go-w %s", c.Exposed, shellWord(c.Exposed))
	}
	if c.Free != nil && *c.Free < fewBytes {
		x.Log.Warningf("no_space", "Little space for the shared cache",
			"The disk with %s has only %s free. To remove packages that aren't used any more, run:\n  %s cache gc", c.Directory, terminal.Megabytes(*c.Free), x.Called)
	}
}

// describePackages counts the packages in the cache.
func (x *examination) describePackages(maintenance *providercache.Maintenance) {
	c := &x.cache
	packages, err := maintenance.List()
	if err != nil {
		x.Log.Failed("cache_failed", "Failed to list the cache", err)
	}
	for _, p := range packages {
		c.Packages, c.Size, c.OnDisk = c.Packages+1, c.Size+p.Size, c.OnDisk+p.OnDisk
	}
	if c.Exposed != "" {
		return
	}
	exposed := maintenance.Exposed(packages)
	if c.Others = len(exposed); c.Others == 0 {
		return
	}
	x.Log.Warningf("cache_failed", "Other users can change packages in the shared cache",
		"Files of %d of the %d packages can be changed by other users, such as those in %s, so tfdeps reads all of them at each use. If the cache is meant for this user alone, run:\n  chmod -R go-w %s",
		c.Others, c.Packages, exposed[0].Dir, shellWord(c.Directory))
}

// describeLinks finds out how packages of the cache are linked into this directory, by linking a temporary
// file.
func (x *examination) describeLinks(cache *providercache.Store, place disk.Place) {
	c := &x.cache
	asked, err := link.ParseMode(cmp.Or(x.Meta.Env.Get("TFDEPS_LINK"), "auto"))
	if err != nil {
		x.Log.Failed("invalid_variable", "Invalid value of TFDEPS_LINK", err)
		return
	}
	modes, exposed := link.Order(asked, cache.Dir, cache.Shared)
	target := workdir.ProvidersDir(x.Meta.Env, ".")
	to := (&providercache.Store{Dir: target}).Place().Dir
	// The mtimes are restored, so that programs that watch these directories see no change.
	defer keepTimes(place.Dir, to)()
	source, err := scratch.Make(place.Dir)
	if err != nil {
		if c.Packages == 0 { // with packages, it is read-only as caches in images are
			c.Usable = false
			x.Log.Warningf("cache_failed", "The shared cache can't be filled",
				"Nothing can be written to %s: %v. Each directory downloads its packages again. Correct the permissions, or name another directory; TFDEPS_CACHE_DIR does that where TF_PLUGIN_CACHE_DIR and plugin_cache_dir don't.", place.Dir, wrapped.Reason(err))
		}
		return
	}
	defer source.Remove()
	used, reason, err := x.tryLinks(source.Path, to, modes)
	if err != nil {
		x.Log.Warningf("", "Packages can't be installed here",
			"A test file can't be linked or copied from %s to %s: %v. Correct the permissions of these directories.", place.Dir, target, err)
		return
	}
	c.Link = used.String()
	if exposed != nil {
		c.LinkReason = exposed.Error()
	}
	if used == providercache.LinkCopy && asked != providercache.LinkCopy && reason != nil {
		c.LinkReason = errors.Join(exposed, reason).Error()
		x.Log.Warningf("cache_failed", "Packages of the shared cache are copied",
			"Packages can't be linked from %s into this directory: %v. Each copy takes time and space. Set TFDEPS_CACHE_DIR to a directory on the same file system as this one.", c.Directory, reason)
	}
}

// tryLinks makes a small directory in from, links it into to, and removes the link.
func (x *examination) tryLinks(from, to string, modes []providercache.LinkMode) (used providercache.LinkMode, reason, err error) {
	dest, err := scratch.Make(to)
	if err != nil {
		return 0, nil, err
	}
	defer dest.Remove()
	made := filepath.Join(from, "package")
	if err := os.Mkdir(made, 0o700); err != nil {
		return 0, nil, err
	}
	if err := os.WriteFile(filepath.Join(made, "file"), []byte(strings.Repeat("x", 4096)), 0o600); err != nil {
		return 0, nil, err
	}
	return link.Tree(x.Meta.Context, made, filepath.Join(dest.Path, "package"), modes)
}

// keepTimes records the mtimes of directories, and returns a function that restores them.
func keepTimes(dirs ...string) (restore func()) {
	times := map[string]time.Time{}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil {
			times[dir] = info.ModTime()
		}
	}
	return func() {
		for dir, at := range times {
			_ = os.Chtimes(dir, time.Time{}, at)
		}
	}
}
