// Package cachecmd is the command "cache" with its subcommands, which maintain
// the cache of providers that working directories share.
package cachecmd

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// run reports a missing or unknown subcommand of "cache".
func run(_ *cli.Meta, args []string) (int, error) {
	if len(args) == 0 {
		return 0, cli.Misusedf("cache needs the name of one of its commands: %s", below())
	}
	return 0, cli.Misusedf("cache has no command named %q. It has these: %s", args[0], below())
}

// below lists the subcommands of "cache", for errors.
func below() string {
	return strings.Join(result.Each(Commands()[1:], func(c cli.Command) string { return strings.TrimPrefix(c.Name, "cache ") }), ", ")
}

// options are the options that several commands share, and their state.
type options struct {
	sources.Reporter
	dir       string // of -dir; "" means the cache of init
	platforms []getproviders.Platform
	policies  []string // of -policy
	offlineBy string   // the option or variable that set it, or ""
	progress  view.Progress

	cache    *providercache.Store // set by findCache and open
	activity *view.Activity       // set by show
}

// show makes the session show running tasks.
func (o *options) show() {
	how := o.Meta.ViewOptions(o.Product, o.Out.JSON, o.progress)
	how.Platforms = true
	o.activity = view.NewActivity(how)
	o.Meta = o.Meta.Showing(o.activity)
}

func (o *options) dirFlag() cli.Flag {
	return cli.Text("dir=DIR", &o.dir, "Use the cache below this directory, as if TFDEPS_CACHE_DIR named it, whatever the CLI configuration says")
}

// findCache finds the cache: below the directory of -dir, else the one that
// init uses.
func (o *options) findCache() (ok bool) {
	if ok = o.ReadConfig(); ok {
		o.cache, ok = o.FindCache(o.dir)
	}
	return ok
}

// locked returns the packages that lock files select.
func (o *options) locked(paths []string) ([]getproviders.PackageSpec, bool) {
	locked, problems := workdir.LockedBelow(paths, products.Unversioned(o.Meta))
	return locked, o.Log.Add(problems...)
}

// open finds the cache, and makes the clients and the policy. It continues after errors, which it logs, so that all problems
// are reported at once.
func (o *options) open() bool {
	if !o.Choose() {
		return false
	}
	if len(o.platforms) == 0 {
		o.platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	o.Online(o.offlineBy, o.policies...)
	o.cache, _ = o.FindCache(o.dir)
	return true
}

// failed logs an error of the maintenance.
func (o *options) failed(summary string, err error) bool {
	return o.Log.Fail("cache_failed", summary, "%v", err)
}

// parseWanted parses providers, each with or without "@" and an exact version.
func parseWanted(names []string, product getproviders.Product) (wanted []getproviders.PackageSpec, err error) {
	for _, name := range names {
		w, err, invalid := workdir.ParseSpec(name, product)
		if err = cmp.Or(err, invalid); err != nil {
			return nil, cli.Usagef("%v\n\nName a provider as ADDRESS or ADDRESS@VERSION, such as hashicorp/aws@5.0.0", err)
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

// dirOptions are the parsed arguments of cache dir.
type dirOptions struct{ options }

// Report returns the path of the cache only, for scripts.
func (o *dirOptions) Report() (*result.Result, error) {
	if o.Out.Data = true; !o.findCache() {
		return nil, nil
	}
	return result.CacheDir(o.cache), nil
}

// list returns the packages of the cache.
func (o *options) list() ([]providercache.StoredPackage, bool) {
	if !o.findCache() {
		return nil, false
	}
	packages, err := o.Maintenance(o.cache).List()
	return packages, err == nil || o.failed("Failed to list the cache", err)
}

// listOptions are the parsed arguments of cache list.
type listOptions struct{ options }

// Report lists the packages.
func (o *listOptions) Report() (*result.Result, error) {
	packages, ok := o.list()
	if !ok {
		return nil, nil
	}
	return result.CacheList(o.cache, packages), nil
}

// keyOptions are the parsed arguments of cache key.
type keyOptions struct {
	options
	github   bool
	platform getproviders.Platform // zero means this machine's
}

// Report returns the key of what lock files select. It reads nothing else.
func (o *keyOptions) Report() (*result.Result, error) {
	paths := o.Operands
	if len(paths) == 0 {
		paths = []string{"."}
	}
	o.Out.Data = true
	locked, ok := o.locked(paths)
	if !ok {
		return nil, nil
	}
	platform := cmp.Or(o.platform, getproviders.CurrentPlatform())
	key, prefix := keyOf(locked, platform), keyPrefix(platform)
	if !o.github || o.Out.JSON {
		return result.CacheKey(key, prefix, platform), nil
	}
	if o.findCache() {
		result.GitHubOutput(o.Meta.Stdout, [][2]string{{"path", o.cache.Dir}, {"key", key}, {"restore-keys", prefix}})
	}
	return nil, nil
}

// keyPrefix returns the beginning of the keys for a platform. Its number changes when older caches become useless.
func keyPrefix(plat getproviders.Platform) string { return "tfdeps-1-" + plat.String() + "-" }

// keyOf returns the key of a CI cache for what lock files select: the same for the same packages.
func keyOf(locked []getproviders.PackageSpec, plat getproviders.Platform) string {
	sum := sha256.New()
	for _, w := range locked {
		fmt.Fprintf(sum, "%s %s %s", w.Provider, w.Version, plat)
		for _, hash := range w.Hashes { // sorted
			fmt.Fprintf(sum, " %s", hash)
		}
		fmt.Fprintln(sum)
	}
	return keyPrefix(plat) + hex.EncodeToString(sum.Sum(nil)[:8])
}

// verifyOptions are the parsed arguments of cache verify.
type verifyOptions struct {
	options
	paths  []string // of -locked; nil if it isn't given
	repair bool
}

// Report hashes all packages, and returns the report.
func (o *verifyOptions) Report() (*result.Result, error) {
	paths, err := o.followed(o.paths, "-locked")
	if err != nil {
		return nil, err
	}
	o.findCache()
	locked, ok := o.locked(paths)
	if !ok {
		return nil, nil
	}
	o.show()
	found, err := o.Maintenance(o.cache).Verify(o.Meta.Context, locked)
	o.activity.Close()
	if o.Meta.Context.Err() != nil {
		o.Log.Fail("interrupted", "Interrupted", "Not all packages were read.")
		return nil, nil
	}
	if err != nil {
		o.failed("Failed to verify the cache", err)
		return nil, nil
	}
	var repaired *providercache.Removal
	if o.repair {
		if repaired, err = o.removeDamaged(found); err != nil {
			o.failed("Failed to remove damaged packages", err)
		}
	}
	if slices.ContainsFunc(found, providercache.Verified.Differs) {
		o.Out.Code = cli.ExitDiffers
	}
	return result.CacheVerification(o.Called, o.cache, found, repaired), nil
}

// removeDamaged removes the packages that differ from their receipts. The next
// init that needs one fetches it. It returns nil if no package is damaged.
func (o *verifyOptions) removeDamaged(found []providercache.Verified) (*providercache.Removal, error) {
	var damaged []providercache.StoredPackage
	for _, v := range found {
		if v.Finding == providercache.Corrupt {
			damaged = append(damaged, v.Package)
		}
	}
	if len(damaged) == 0 {
		return nil, nil
	}
	done, err := o.Maintenance(o.cache).Remove(o.Meta.Context, damaged, providercache.RemoveOptions{Linked: true, Others: true})
	return &done, err
}

// followed appends operands to the paths of an option. Operands without that option are an
// error.
func (o *options) followed(paths []string, option string) ([]string, error) {
	if len(o.Operands) > 0 && paths == nil {
		return nil, cli.Usagef("%q is not an option: name directories after %s", o.Operands[0], option).About(option)
	}
	return append(paths, o.Operands...), nil
}

// Known returns the providers and the platforms of the packages in the shared cache, in any order and
// with duplicates, or nil without a cache.
func Known(m *cli.Meta) (providers []getproviders.Provider, platforms []getproviders.Platform) {
	var o options
	o.Session = sources.New(m, products.Unversioned(m), false)
	packages, _ := o.list()
	for _, p := range packages {
		providers, platforms = append(providers, p.Provider), append(platforms, p.Platform)
	}
	return providers, platforms
}
