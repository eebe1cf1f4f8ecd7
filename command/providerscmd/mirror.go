package providerscmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/products"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/view/result"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// mirrorOptions are the parsed arguments of providers mirror.
type mirrorOptions struct {
	packageOptions
	target           string   // the place of the mirror: a directory, or the URL of a bucket or a registry
	lockFile         bool     // -lock-file
	locked           []string // of -locked; nil if it isn't given
	versions         []string // of -versions, ADDRESS@VERSION; nil without any
	allVersions      bool     // -versions=all
	prune, verify    bool
	pruneGrace       time.Duration
	createRepository string
}

// defaultGrace is how long a running installation may use an index that it has read.
const defaultGrace = time.Hour

func (o *mirrorOptions) Flags() cli.Flags {
	o.lockFile, o.pruneGrace, o.from = true, defaultGrace, "origin"
	return slices.Concat(
		cli.Flags{
			o.platformFlag(),
			cli.Switch("lock-file=false", &o.lockFile, "Ignore lock files"),
			o.dirFlag("Take the configuration in this directory instead of the current one", "May be given more than once, and be a pattern such as envs/*, for directories with a configuration."),
			cli.Option("locked=PATH", cli.Paths(&o.locked),
				"Take what this lock file selects, or those in and below this directory; without -dir, no configuration is read", "May be given more than once."),
			cli.Word("versions=all", cli.Func(o.addVersions), "Take all versions that the configuration allows"),
			{Name: "versions", Sep: "=", Arg: "ADDRESS@VERSION,...",
				Help: "Take these versions; without -dir, no configuration is read", More: "May be given more than once."},
		},
		o.sourceFlags("config", "Take them from where the CLI configuration says"),
		cli.Flags{
			cli.Switch("prune", &o.prune,
				"Remove all other packages from the mirror, if everything succeeded", "It takes two runs: the first one takes them out of the indexes, and prints them; clients that have read an index before still find them. A run with -prune an hour or more later removes them. A run without -prune in between puts them back into the indexes."),
			cli.Option("prune-grace=1h", cli.Duration(&o.pruneGrace),
				"How long ago the indexes must have changed, such as 90m or 24h", "With 0, one run does all, but a client that has just read an index may not find a package."),
		},
		cli.Flags{cli.Switch("verify", &o.verify,
			"Read each package that is in the mirror already and compare it with its checksum there", "A damaged one is fetched again; in an OCI registry, where nothing can be replaced, it is an error. Without this option, the mirror's documents and receipts are trusted.")},
		o.modules.Flags(),
		cli.Flags{
			sources.CreateRepositoryFlag(&o.createRepository),
			o.JSONFlag("Print the JSON object described below"),
			cli.Progress(&o.progress),
		}, cli.Showing())
}

// checkOptions finds options that can't be used.
func (o *mirrorOptions) checkOptions() {
	if len(o.Operands) == 1 {
		o.target = cmp.Or(o.Operands[0], ".") // to Terraform, an empty path is the working directory
	}
	// Where TFDEPS_MIRROR is for all commands, it also names the mirror that this one fills.
	o.mirrors = slices.DeleteFunc(o.mirrors, func(mirror string) bool { return places.Same(mirror, o.target) })
	o.checkSource()
	o.refuse(len(o.Operands) != 1, "No output directory specified", "The providers mirror command requires an output directory as a command-line argument.")
	o.refuse(o.prune && places.IsOCI(o.target), "The -prune flag can't be used with oci://", "Nothing is removed from a registry: its own tools do that.", "-prune")
	sources.CheckCreateRepository(o.Meta, &o.problems, o.createRepository, o.target)
	o.refuse(o.pruneGrace < 0, "Invalid value of -prune-grace",
		fmt.Sprintf("The value of -prune-grace is %s. It has to be a time such as 90m or 24h, or 0.", o.pruneGrace), "-prune-grace")
	o.refuse(o.Has("prune-grace") && !o.prune, "The -prune-grace flag needs -prune",
		"It says when packages that -prune takes out of the mirror's indexes are removed. Without -prune none are.", "-prune-grace")
}

// addVersions reads "all", or versions of providers, separated by commas.
func (o *mirrorOptions) addVersions(given string) error {
	if given == "all" {
		o.allVersions = true
		return nil
	}
	o.versions = append(o.versions, strings.Split(given, ",")...)
	return nil
}

// Report fills a directory or a bucket with packages for others to install from. Unlike Terraform
// it includes providers that test files require, because init needs
// them.
func (o *mirrorOptions) Report() (*result.Result, error) {
	o.checkOptions()
	o.mayBeEmpty = true
	ok := o.Choose(o.problems.All...)
	v := view.NewMirror(o.Meta.ViewOptions(o.Product, o.Out.JSON, o.progress))
	if o.Meta = o.Meta.Showing(v.Activity); ok {
		o.fill(v)
	}
	return v.Report(o.target), nil
}

func (o *mirrorOptions) fill(v *view.Mirror) {
	m, before := o.Meta, o.Log.All
	if !o.connect() {
		return
	}
	to := mirror.Directory(o.target)
	var invalid *problem.Problem
	switch {
	case places.IsOCI(o.target):
		var registry remote.Releases
		registry, invalid = o.OpenRegistry(o.target, sources.CreateRepository(m, o.createRepository))
		to = mirror.Registry(registry)
	case places.IsURL(o.target):
		var bucket blob.Bucket
		if bucket, invalid = o.OpenBucket(m.Context, o.target, places.OCIForm); invalid == nil {
			defer bucket.Close()
			to = mirror.Bucket(bucket)
		}
	}
	if invalid != nil {
		o.Log.All = append(before, invalid)
		return
	}
	wanted, about, choices, ok := o.wants(v)
	if !ok {
		return
	}
	var pinned []getproviders.PackageSpec
	for _, w := range wanted {
		if layout.WindowsRefuses(w.Provider.Namespace + "/" + w.Provider.Type) {
			o.Log.Warningf("", "Names that Windows doesn't allow", "Windows doesn't allow the name of the mirror's directory %s.", w.Provider)
		}
		if !w.Version.IsZero() {
			pinned = append(pinned, w.PackageSpec)
		}
	}
	fetcher := o.Fetcher(v.Observe)
	fetcher.Policy = o.Policy.AgainstEach(pinned, choices)
	done, err := mirror.Update(m.Context, fetcher, to, wanted, mirror.Options{
		Platforms: o.platforms, AllPlatforms: o.allPlatforms, Prune: o.prune, PruneGrace: o.pruneGrace, Verify: o.verify,
	})
	o.Log.Add(v.End(done)...)
	if err != nil {
		o.Log.Add(o.MirrorProblems(err, "mirror_index", "Failed to write the mirror", o.ExplainMissing(err, about))...)
	}
}

// wants returns the packages for the mirror: those of -versions, those that the lock files of
// -locked select, and those that configurations require. about is what the configurations say of these. choices are those without a
// version yet.
func (o *mirrorOptions) wants(v *view.Mirror) (wanted []mirror.Spec, about sources.Wanted, choices []sources.Choice, ok bool) {
	about = o.wanted(nil)
	listed, problems := parseSpecs(o.Product, "-versions=%s can't be used: %v. It takes \"all\", or ADDRESS@VERSION.", o.versions, true)
	if !o.Log.Add(problems...) {
		return nil, about, nil, false
	}
	for _, w := range listed {
		wanted = append(wanted, mirror.Spec{PackageSpec: w})
	}
	locked, problems := workdir.LockedBelow(o.locked, products.Unversioned(o.Meta))
	for _, w := range locked {
		wanted = append(wanted, mirror.Spec{PackageSpec: w, Locked: true})
	}
	isSaid := o.locked != nil || o.versions != nil // options name the packages, without a configuration
	if ok = o.Log.Add(problems...); !ok || isSaid && !o.roots.Given() {
		return wanted, about, choices, ok
	}
	dirs, ok := o.read()
	if !ok {
		return nil, about, nil, false
	}

	about = o.wanted(dirs)
	skipped := map[getproviders.Provider]bool{}
	for _, d := range dirs {
		for _, p := range d.required.Providers() {
			if p.IsBuiltIn() {
				if !skipped[p] {
					v.Skip(p)
				}
				skipped[p] = true
				continue
			}
			w, reason := o.want(d, p)
			if reason != "" {
				ok = o.Log.Add(o.LockedMismatch(d.Path, reason))
				continue
			}
			wanted = append(wanted, w)
			if w.Version.IsZero() {
				lock, _ := d.Locks.Provider(p)
				choices = append(choices, sources.Choice{Provider: p, Constraints: w.Constraints, AllVersions: w.AllVersions, Dir: d.Path, Locked: lock.Version})
			}
		}
	}
	return wanted, about, choices, ok
}

// want returns the package that a directory needs of a provider, or a reason why its lock file doesn't
// fit.
func (o *mirrorOptions) want(d directory, p getproviders.Provider) (w mirror.Spec, reason string) {
	w.Provider, w.Constraints, w.AllVersions = p, d.required.Constraints(p), o.allVersions
	w.Requirements = d.required[p]
	if !o.lockFile || d.Locks.Empty() || w.AllVersions {
		return w, ""
	}
	lock, ok := d.Locks.Provider(p)
	switch {
	case !ok:
		return w, fmt.Sprintf("provider %s: required by this configuration but no version is selected", p)
	case !w.Constraints.Allows(lock.Version):
		return w, fmt.Sprintf("provider %s: locked version selection %s doesn't match the updated version constraints %q", p, lock.Version, w.Constraints)
	}
	w.Version, w.Hashes, w.Locked = lock.Version, lock.Hashes, true
	return w, ""
}
