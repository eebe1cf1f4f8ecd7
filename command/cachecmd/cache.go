// Package cachecmd is the command "cache" with those below it, which look after
// the cache of providers that working directories share.
package cachecmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// run is for arguments that name no command below "cache", or an unknown one.
func run(_ *cli.Meta, args []string) (int, error) {
	if len(args) == 0 {
		return 0, cli.Misusedf("cache needs the name of one of its commands: %s", below())
	}
	return 0, cli.Misusedf("cache has no command named %q. It has these: %s", args[0], below())
}

// below is the list of the commands below "cache", for errors.
func below() string {
	var all []string
	for _, c := range Commands()[1:] {
		all = append(all, strings.TrimPrefix(c.Name, "cache "))
	}
	return strings.Join(all, ", ")
}

// options are those that several commands have.
type options struct {
	dir      string // of -dir; "": where init finds the cache
	out      cli.Output
	progress view.Progress

	log problem.Log // of the command, whose steps add to it
}

// activity returns what shows what is under way, and a Meta for a command whose activity that is.
func (o *options) activity(m *cli.Meta, product getproviders.Product) (*view.Activity, *cli.Meta) {
	how := m.ViewOptions(product, o.out.JSON, o.progress)
	how.Platforms = true
	activity := view.NewActivity(how)
	return activity, m.Showing(activity)
}

func (o *options) dirFlag() cli.Flag {
	return cli.Text("dir=DIR", &o.dir, "The cache below this directory, as if TFDEPS_CACHE_DIR named it, whatever the CLI configuration says.")
}

func (o *options) jsonFlag(help string) cli.Flag {
	return cli.Switch("json", &o.out.JSON, help)
}

// end prints the report, which may be nil, shows the problems and returns the exit code.
func (o *options) end(m *cli.Meta, report result.Result) (int, error) {
	return m.Finish(report, o.log.All, o.out), nil
}

// findCache returns the cache: below the directory that -dir names, else where
// init finds it.
func (o *options) findCache(m *cli.Meta) (*providercache.Store, bool) {
	config, problems := sources.ReadConfig(m, products.Unversioned(m))
	if !o.log.Add(problems...) {
		return nil, false
	}
	cache, problems := sources.FindCache(m, config, o.dir)
	return cache, o.log.Add(problems...)
}

// locked gathers what lock files select.
func (o *options) locked(m *cli.Meta, paths []string) ([]getproviders.PackageSpec, bool) {
	locked, problems := workdir.LockedBelow(paths, products.Unversioned(m))
	return locked, o.log.Add(problems...)
}

// session is what packages come into a cache with, and out of it.
type session struct {
	meta     *cli.Meta
	product  getproviders.Product
	config   *cliconfig.Config
	cache    *providercache.Store
	net      sources.Network
	activity *view.Activity
}

// open begins a session. What is wrong with its parts doesn't keep other problems from being found: the log has it.
func (o *options) open(m *cli.Meta, activity *view.Activity, offlineBy string, policies []string) (s session, ok bool) {
	s = session{meta: m, activity: activity}
	var problems, missing problem.List
	if s.product, problems = products.Choose(m); problems.HasErrors() {
		return s, o.log.Add(problems...)
	}
	s.config, s.net, problems = sources.Online(m, s.product, offlineBy, policies...)
	s.cache, missing = sources.FindCache(m, s.config, o.dir)
	o.log.Add(append(problems, missing...)...)
	return s, true
}

// maintain returns what looks after a cache.
func maintain(m *cli.Meta, cache *providercache.Store) *providercache.Maintenance {
	return &providercache.Maintenance{Cache: cache, StateDir: m.StateDir, Now: m.Now}
}

// parseWanted reads providers, with or without an exact version behind a "@".
func parseWanted(names []string, product getproviders.Product) (wanted []getproviders.PackageSpec, err error) {
	for _, name := range names {
		address, version, versioned := strings.Cut(name, "@")
		var w getproviders.PackageSpec
		w.Provider, err = product.ParseProvider(address)
		if err == nil && versioned {
			w.Version, err = getproviders.ParseVersion(version)
		}
		if err == nil && (w.Provider.IsBuiltIn() || w.Provider.IsLegacy()) {
			err = fmt.Errorf("%s has no packages", w.Provider)
		}
		if err != nil {
			return nil, cli.Usagef("%v\n\nName a provider as ADDRESS or ADDRESS@VERSION, such as hashicorp/aws@5.0.0", err)
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

// runDir tells where the cache is, for scripts: the path and nothing else.
func runDir(m *cli.Meta, args []string) (int, error) {
	var o options
	if _, err := o.dirFlags().Alone(args, m.Env); err != nil {
		return 0, err
	}
	var report result.Result
	if cache, ok := o.findCache(m); ok {
		report = result.CacheDir{Cache: cache}
	}
	o.out.Data = true
	return o.end(m, report)
}

// list returns the cache and its packages.
func (o *options) list(m *cli.Meta) (*providercache.Store, []providercache.StoredPackage, bool) {
	cache, ok := o.findCache(m)
	if !ok {
		return nil, nil, false
	}
	packages, err := maintain(m, cache).List()
	if err != nil {
		return nil, nil, o.log.Fail("cache_failed", "Failed to list the cache", "%v", err)
	}
	return cache, packages, true
}

// runList lists the packages.
func runList(m *cli.Meta, args []string) (int, error) {
	var o options
	if _, err := o.listFlags().Alone(args, m.Env); err != nil {
		return 0, err
	}
	cache, packages, ok := o.list(m)
	if !ok {
		return o.end(m, nil)
	}
	return o.end(m, result.CacheList{Cache: cache, Packages: packages})
}

// keyOptions are what the arguments of cache key ask for.
type keyOptions struct {
	options
	github   bool
	platform getproviders.Platform
}

// runKey tells the key of what lock files select. It reads nothing else.
func runKey(m *cli.Meta, args []string) (int, error) {
	o := keyOptions{platform: getproviders.CurrentPlatform()}
	paths, err := o.flags().Mixed(args, m.Env)
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	o.out.Data = true
	locked, ok := o.locked(m, paths)
	if !ok {
		return o.end(m, nil)
	}
	key := keyOf(locked, o.platform)
	if !o.github || o.out.JSON {
		return o.end(m, result.CacheKey{Key: key, Prefix: keyPrefix(o.platform), Platform: o.platform})
	}
	if cache, ok := o.findCache(m); ok {
		result.GitHubOutput(m.Stdout, [][2]string{
			{"path", cache.Dir}, {"key", key}, {"restore-keys", keyPrefix(o.platform)},
		})
	}
	return o.end(m, nil)
}

// keyPrefix begins the keys for a platform. It changes when caches with an older key become useless.
func keyPrefix(plat getproviders.Platform) string { return "tfdeps-1-" + plat.String() + "-" }

// keyOf is a key for a CI system's cache of what lock files select: it is the same as long as the same packages are wanted.
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

// verifyOptions are what the arguments of cache verify ask for.
type verifyOptions struct {
	options
	paths  []string // of -locked; nil: it wasn't given
	repair bool
}

// runVerify reads all packages.
func runVerify(m *cli.Meta, args []string) (int, error) {
	var o verifyOptions
	operands, err := o.flags().Mixed(args, m.Env)
	if err == nil {
		o.paths, err = followed(o.paths, operands, "-locked")
	}
	if err != nil {
		return 0, err
	}
	cache, _ := o.findCache(m)
	locked, ok := o.locked(m, o.paths)
	if !ok {
		return o.end(m, nil)
	}
	activity, m := o.activity(m, products.Unversioned(m))
	maintenance := maintain(m, cache)
	maintenance.Observe = event.Observer(activity.Observe)
	found, err := maintenance.Verify(m.Context, locked)
	activity.Close()
	if m.Context.Err() != nil {
		o.log.Fail("interrupted", "Interrupted", "Not all packages were read.")
		return o.end(m, nil)
	}
	if err != nil {
		o.log.Fail("cache_failed", "Failed to verify the cache", "%v", err)
		return o.end(m, nil)
	}
	result := result.CacheVerification{Cache: cache, Found: found}
	if o.repair {
		if result.Repaired, err = removeDamaged(m, cache, found); err != nil {
			o.log.Fail("cache_failed", "Failed to remove what is damaged", "%v", err)
		}
	}
	if slices.ContainsFunc(found, providercache.Verified.Differs) {
		o.out.Code = cli.ExitDiffers
	}
	return o.end(m, result)
}

// removeDamaged removes the packages that aren't what their receipts say. The next
// init that wants one fetches it. nil: there are none.
func removeDamaged(m *cli.Meta, cache *providercache.Store, found []providercache.Verified) (*providercache.Removal, error) {
	var damaged []providercache.StoredPackage
	for _, v := range found {
		if v.Finding == providercache.Corrupt {
			damaged = append(damaged, v.Package)
		}
	}
	if len(damaged) == 0 {
		return nil, nil
	}
	done, err := maintain(m, cache).Remove(m.Context, damaged, providercache.RemoveOptions{Linked: true, Others: true})
	return &done, err
}

// followed adds operands to the paths of an option, which are more paths if it was
// given.
func followed(paths, operands []string, option string) ([]string, error) {
	if len(operands) > 0 && paths == nil {
		return nil, cli.Usagef("%q is no option, and directories have to follow %s", operands[0], option)
	}
	return append(paths, operands...), nil
}

// Known returns the providers and the platforms of which the shared cache has packages, in any order and
// repeatedly; none if there is no cache.
func Known(m *cli.Meta) (providers []getproviders.Provider, platforms []getproviders.Platform) {
	_, packages, _ := new(options).list(m)
	for _, p := range packages {
		providers, platforms = append(providers, p.Provider), append(platforms, p.Platform)
	}
	return providers, platforms
}
