package initcmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/roots"
	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// options are the parsed arguments of init.
type options struct {
	upgrade     bool
	check       bool // say whether there is anything to do, and change nothing
	plan        bool // say what would be done, and change nothing
	json        bool
	jsonInto    string // a file that gets the output of -json; "" means none
	report      string // a file that gets the page of the run; "" means none
	get         bool   // whether modules are installed
	fromModule  string // the source of -from-module, or ""
	stateFile   string // of -state, or ""
	lockModules bool

	roots        roots.Options
	below        []string // the operands: where root modules are looked for
	sameVersions bool
	unexpected   *problem.Problem // the error for an unexpected operand, or nil

	lockfile string // of -lockfile
	frozen   bool

	pluginDirs     []string // the values of -plugin-dir that aren't empty
	pluginDirGiven bool     // even if only with an empty value
	mirrorFallback string   // of -mirror-fallback, as it was given
	noSharedCache  bool
	cacheMaxSize   *int64 // of -cache-max-size; nil means no limit
	link           string // of -link, as it was given
	verify         bool
	strictTimes    bool // of -verify=ctime

	platforms    []getproviders.Platform // for which the lock file needs hashes, too
	allPlatforms bool                    // -platform=all
	hashes       providercache.HashPolicy
	policies     []string // of -policy
	mirrors      []string // of -mirror

	progress view.Progress
	modules  workdir.Options
	backend  backendOptions

	// For messages: which option or variable set each option, and readonly and offline; "" if they aren't set.
	by                    cli.SetBy
	readonlyBy, offlineBy string
}

// flags returns the flags of init, in the order of its help.
func (o *options) flags() cli.Flags {
	return slices.Concat(cli.Flags{
		cli.Switch("upgrade", &o.upgrade, "Install the newest provider and module versions that the constraints allow, whatever the lock file says"),
		cli.Word("lockfile=readonly", cli.String(&o.lockfile),
			"Don't change the lock file", "If it isn't up to date, or lacks what \"$PROGRAM plan\" needs, init fails."),
		cli.Offline(&o.offlineBy,
			"Send no request", "Providers and modules have to be in this directory, the shared cache, a mirror on this machine or the module store; all that are missing are reported at once. If no lock file has a version, one of these is chosen, with a warning."),
		cli.Switch("frozen", &o.frozen,
			"-lockfile=readonly and -offline together, as in cargo", "(In uv, --frozen doesn't even compare the lock file.)").
			Or("TFDEPS_FROZEN", "change no lock file and send no request"),
		cli.Switch("check", &o.check,
			"Do nothing, and say whether there is anything to do", "The exit code is 0 if not, 2 if so, 1 if that can't be known. No request is sent, and nothing is written. The reasons are listed; their codes are explained below.").
			Or("TFDEPS_CHECK", "say whether there is anything to do, and do nothing"),
		cli.Switch("plan", &o.plan,
			"Do nothing, and say what would be fetched", "Each module and provider has a line: source, size and reason. The exit code is 0 if there is nothing to do, 2 if there is, 1 after an error, which an init would have, too. Registries and mirrors are asked, unless -offline forbids it; no archive is downloaded, and nothing is written. Requirements of modules that aren't installed are unknown.").
			Or("TFDEPS_PLAN", "say what would be done, and do nothing"),
	}, cli.Flags{
		cli.Option("platform=OS_ARCH", cli.Func(o.addPlatforms),
			"Add hashes for this platform, such as linux_amd64, to the lock file", "Its packages are read while they are downloaded, and not kept, as with \"providers lock\". May be given more than once, or with commas; \"all\" means every platform that the source of a provider lists. Only packages for this machine's platform are installed.").
			Or("TFDEPS_PLATFORM", "which platforms to add to the lock file"),
		{Name: "hashes", Sep: "=", Value: cli.Parsed(&o.hashes, cli.ParseHashPolicy), Variable: cli.HashesVariable, Meaning: "which hashes to trust for unread packages",
			Help:    "Which hashes to trust for packages that aren't read",
			Choices: cli.HashChoices("also those of registries, and for -platform those of network mirrors;")},
	}.Below("Lock file"), append(cli.Flags{
		cli.Switch("get=false", &o.get, "Use the modules that are recorded, and fetch no others"),
		cli.Text("from-module=SOURCE", &o.fromModule, "Copy this module into the working directory, which has to be empty, and initialize it there"),
		cli.Switch("lock-modules", &o.lockModules,
			"Record fetched modules in .tfdeps.modules.lock.hcl: source, version or commit, and a hash of the files", "Once this file exists, every init updates it, and refuses modules with other content unless -upgrade is given.").
			Or("TFDEPS_LOCK_MODULES", "record which modules were fetched"),
	}, o.modules.Flags()...).Below("Modules"), cli.Flags{
		sources.MirrorFlag(&o.mirrors),
		{Name: "mirror-fallback", Sep: "=", Value: cli.String(&o.mirrorFallback), Variable: "TFDEPS_MIRROR_FALLBACK", Meaning: "when to ask the next source",
			Help: "When to ask the next of several sources", More: "Given together with -mirror, it also has the usual sources asked, after the mirrors.",
			Choices: [][2]string{
				{"stop", "a source that fails ends the search (this is the default); one that lacks a package doesn't;"},
				{"next", "one that fails is skipped, with a warning;"},
				{"exclusive", "as stop, and no registry is asked for a provider that has a mirror."},
			}},
		cli.Option("plugin-dir=DIR", cli.Func(o.addPluginDir),
			"Install only from this directory, which has the layout of a filesystem mirror", "May be given more than once. An empty value clears the recorded directories."),
		sources.PolicyFlag(&o.policies),
		cli.SwitchOr("verify", &o.verify, "ctime", &o.strictTimes,
			"Read and hash all packages, even those that seem unchanged", "With -verify=ctime, only those with a file whose ctime has changed since it was hashed; deleting another directory with hard links to it changes that, too.").
			Or("TFDEPS_VERIFY", "hash all packages"),
	}.Below("Packages"), o.cacheFlags().Below("Cache"), append(o.backend.flags(),
		cli.Text("state=FILE", &o.stateFile,
			"Read which providers existing objects need from this state, instead of the current workspace's", "\"-\" means standard input, as in\n$PROGRAM state pull | $TFDEPS init -state=-").
			Or("TFDEPS_STATE", "the state whose providers are needed"),
	).Below("Backend and state"), o.severalFlags().Below("Several directories"), append(cli.Flags{
		cli.Progress(&o.progress).With("no progress, and no last line with the number of providers from each source and the time taken."),
		cli.Switch("json", &o.json,
			"Print one JSON object per line, for programs", "Beside $PRODUCT's objects there is one of the type \"package\" for each provider, one of the type \"module\" for each module, and at the end one of the type \"summary\". A long download has an object per second, of the type \"download_progress\", unless -progress=none: provider, version, done and total in bytes; no total if it isn't known."),
		cli.Text("json-into=FILE", &o.jsonInto, "Write what -json prints into this file, beside the output for people"),
		cli.Text("report=FILE", &o.report,
			"Write a web page into this file that shows requests, downloads and links, with times and sizes", "It is also written if init fails, and needs no network.").
			Or("TFDEPS_REPORT", "write a page of the run to this file"),
	}, cli.Showing()...).Below("Output"))
}

// cacheFlags returns the flags about the shared cache.
func (o *options) cacheFlags() cli.Flags {
	return cli.Flags{
		cli.Switch("no-shared-cache", &o.noSharedCache,
			"Don't use the cache that directories share: fetch providers for this directory alone").
			Or("TFDEPS_NO_SHARED_CACHE", "share no packages with other directories"),
		cli.Option("cache-max-size=SIZE", cli.Parsed(&o.cacheMaxSize, cli.ParseLimit),
			"The largest size of the shared cache, such as 20GB: once a day, init removes the least recently used packages above it, and those that no directory has used for 90 days", "Nothing is removed from a cache that you name.").Or("TFDEPS_CACHE_MAX_SIZE", "how large the shared cache may be"),
		{Name: "link", Sep: "=", Value: cli.String(&o.link), Variable: "TFDEPS_LINK", Meaning: "how to link packages from the shared cache",
			Help: "How packages get from that cache into this directory",
			Choices: [][2]string{
				{"auto", "from a directory that the CLI configuration or TF_PLUGIN_CACHE_DIR names, as with symlink; from the default cache, the first of these that is possible:"},
				{"clone", "files that share disk blocks until one is changed;"},
				{"hardlink", "hard links to the files;"},
				{"copy", "copies."},
				{"symlink", "a symbolic link to the package in the cache."},
			}},
	}
}

// severalFlags returns the flags that name directories.
func (o *options) severalFlags() cli.Flags {
	return append(o.roots.Flags("Work in this directory instead of the current one", "May be given more than once, and be a pattern such as envs/*, for directories with a configuration. {dir} in the values of -backend-config and -var-file stands for the directory."),
		cli.Switch("same-versions", &o.sameVersions, "With -check and several directories: list providers that they lock at different versions", "The exit code is 2 if there are any."))
}

// daily are the options in the short help.
var daily = strings.Fields("upgrade lockfile offline frozen check plan platform lock-modules from-module mirror plugin-dir no-shared-cache backend backend-config reconfigure with var json report")

// looks reports whether init changes nothing, and only says what it would do.
func (o *options) looks() bool { return o.check || o.plan }

func defaults() options {
	return options{get: true, backend: backendOptions{initialize: true, createDefault: true}}
}

// parse reads the arguments of init, and the variables of options that are not
// among them. If it returns problems, the options only say how to show these.
func parse(m *cli.Meta, args []string) (options, problem.List) {
	o := defaults()
	given, err := o.flags().Parse(args)
	if err == nil && o.roots.Recursive {
		o.below, err = given.Rest()
	}
	if wrong, ok := errors.AsType[*cli.UsageError](err); ok {
		o.json = cli.WantsJSON(args)
		return o, problem.Fail("invalid_option", "Failed to parse command-line flags", "%v%s", wrong.Cause, m.Blame("\n\n", wrong.Options...))
	}
	if len(given.Operands) > 0 && !o.roots.Recursive {
		o.json = cli.WantsJSON(args)
		o.unexpected = problem.Errorf("invalid_option", "Too many command line arguments. Did you mean to use -chdir?",
			"The init command takes options only, and was given %q.%s%s", given.Operands[0], longDash(given.Operands[0]), spaced(m, args, given.Operands[0]))
		return o, problem.List{o.unexpected}
	}
	by, err := given.Fill(m.Env)
	if err != nil {
		return o, problem.Fail("invalid_variable", "Invalid value of a variable", "%v", errors.Unwrap(err))
	}
	o.settle(by, m.StandIn)
	for _, name := range slices.Sorted(maps.Keys(foreign)) {
		if given.Has(name) {
			o.backend.foreign = append(o.backend.foreign, name)
		}
	}
	return o, o.conflicts(m, given)
}

func (o *options) addPluginDir(dir string) error {
	o.pluginDirGiven = true
	if dir != "" {
		o.pluginDirs = append(o.pluginDirs, dir)
	}
	return nil
}

// addPlatforms reads a value of -platform: a platform, several with commas
// between, or "all".
func (o *options) addPlatforms(given string) error {
	for text := range strings.SplitSeq(given, ",") {
		plat, err := getproviders.ParsePlatform(strings.TrimSpace(text))
		switch {
		case strings.TrimSpace(text) == "all":
			o.allPlatforms = true
		case err != nil:
			return fmt.Errorf("%w, or \"all\"", err)
		default:
			o.platforms = append(o.platforms, plat)
		}
	}
	return nil
}

// settle combines -lockfile, -offline and -frozen, and records which option or variable set them. If tfdeps
// runs under the name of a product's program, and options ask to move state, that program does it.
func (o *options) settle(by cli.SetBy, standIn *cli.StandIn) {
	if standIn != nil && o.backend.with == "" && o.backend.moves() {
		o.backend.with = standIn.Name
	}
	o.by = by
	if o.lockfile == "readonly" {
		o.readonlyBy = "-lockfile=readonly"
	}
	if o.frozen {
		o.readonlyBy, o.offlineBy = cmp.Or(o.readonlyBy, by["frozen"]), cmp.Or(o.offlineBy, by["frozen"])
	}
}

// conflicts finds options that contradict each other.
func (o *options) conflicts(m *cli.Meta, given cli.Given) problem.List {
	var log problem.Log
	m.Refuse(&log, given.Has("backend") && given.Has("cloud"), "Invalid init options",
		"The -backend and -cloud options are aliases of one another and mutually-exclusive in their use", "-backend", "-cloud")
	m.Refuse(&log, o.lockfile != "" && o.lockfile != "readonly", "Invalid lock file mode",
		fmt.Sprintf("The value of -lockfile is %q. The only mode is \"readonly\".", o.lockfile), "-lockfile")
	m.Conflict(&log, o.by["mirror"] == "-mirror" && len(o.pluginDirs) > 0, "-mirror", "-plugin-dir",
		"Packages come from the directories of -plugin-dir, and from nowhere else.")
	o.forbidden(m, &log)
	o.roots.Refuse(m, &log)
	m.Refuse(&log, o.sameVersions && (!o.check || !o.roots.Given()), "The -same-versions flag needs -check and several directories.",
		"It compares lock files. Give -recursive or -dir, too.", "-same-versions")
	m.Refuse(&log, o.json && o.jsonInto != "", "Invalid output format", "The -json and -json-into arguments are mutually exclusive", "-json", "-json-into")
	o.backend.collect(given)
	o.backend.conflicts(m, o.json, &log)
	return log.All
}

// forbidden finds options that contradict -check, -plan, -offline, -frozen or
// -lockfile=readonly.
func (o *options) forbidden(m *cli.Meta, log *problem.Log) {
	checkBy, planBy := "", ""
	if o.check {
		checkBy = o.by["check"]
	}
	if o.plan {
		planBy = o.by["plan"]
	}
	conflict := func(given bool, option, with, why string) {
		m.Conflict(log, given && with != "", option, with, why)
	}
	conflict(o.upgrade, "-upgrade", o.readonlyBy, "An upgrade has to record what it selects in the lock file.")
	conflict(o.upgrade && o.readonlyBy == "", "-upgrade", o.offlineBy, "An upgrade asks for the available versions, which takes requests.")
	conflict(o.backend.with != "", o.by["with"], o.offlineBy, "The program that initializes the backend sends requests of its own.")
	for _, by := range slices.Compact([]string{o.readonlyBy, o.offlineBy, checkBy, planBy}) {
		conflict(o.allPlatforms || len(o.otherPlatforms()) > 0, o.by["platform"], by, "The hashes for other platforms are asked for, and recorded in the lock file. "+
			"Whether it has them, \""+m.Called()+" providers lock -check\" says.")
	}
	if o.check && o.plan {
		conflict(true, planBy, checkBy, "Both change nothing: -check asks no host, and -plan says more.")
		return
	}
	const always = "It always has something to do."
	by := checkBy + planBy
	conflict(o.check && o.upgrade, "-upgrade", by, always)
	conflict(o.fromModule != "", "-from-module", by, always)
	conflict(o.by["with"] != "", o.by["with"], by, always)
	conflict(o.backend.moves(), "-migrate-state", by, always)
	conflict(o.report != "", o.by["report"], by, always)
}

// otherPlatforms are the platforms of -platform without the current one, whose hashes every init locks.
func (o *options) otherPlatforms() []getproviders.Platform {
	current := getproviders.CurrentPlatform()
	return slices.DeleteFunc(slices.Clone(o.platforms), func(plat getproviders.Platform) bool { return plat == current })
}

// spaced returns a hint if the operand may be the value of the option before it.
func spaced(m *cli.Meta, args []string, operand string) string {
	at := slices.Index(args, operand)
	if at < 1 || !strings.HasPrefix(args[at-1], "-") || strings.HasPrefix(operand, "-") || strings.Contains(args[at-1], "=") {
		return ""
	}
	return fmt.Sprintf(" The value of an option follows an equals sign: %s=%s.%s", args[at-1], operand, m.Blame("\n\n", args[at-1]))
}

// longDash returns a hint for an option that begins with a long dash, which some editors and web pages put in the place of a hyphen.
func longDash(given string) string {
	if strings.IndexAny(given, "–—") == 0 {
		return " It begins with a long dash, and options begin with a hyphen: type it again."
	}
	return ""
}

const about = `  Prepares the working directory for "$PROGRAM plan" and "$PROGRAM apply":
  finds out which modules and providers the configuration and its state
  require, records where the modules are, selects versions of the providers,
  downloads, verifies and unpacks the packages, and records the
  selections in .terraform.lock.hcl.`

const details = `  You can run it at any time, as often as you like. Packages that are installed
  and locked need no network; configuration and state are never changed.

  Packages come only from the mirrors of -mirror and TFDEPS_MIRROR, if there are
  any, otherwise from the sources in the provider_installation block of the CLI
  configuration. Without that block, they come from terraform.d/plugins and the
  other default mirror directories, if these have the provider, otherwise from
  the provider's registry.

  Remote modules are fetched, unless they are recorded already. The backend is
  recorded for "$PROGRAM plan", and no request is sent to it: moving state is
  left to $PRODUCT.`

const more = `  The exit code is 0, or 1 after an error. With -check and -plan it may be 2.

The answer of -check is text for people. With -json it is one object of the type
"check_reason" for each reason, with code, @message and its subject (provider or
module, or neither), and one of the type "check" at the end, with up_to_date and
reasons, their number. The codes don't change:
  lock_missing_provider    a required provider has no entry in the lock file
  constraint_unsatisfied   the locked version isn't allowed any more
  lock_without_hash        the entry has no h1 hash of the installed package
  lock_extra_provider      a provider has an entry and isn't required any more
  package_absent           the locked version of a provider isn't installed
  package_differs          the installed package has none of the locked hashes
  package_refused          a policy refuses the package
  built_in_invalid         a built-in provider has a version or an unknown name
  module_absent            a module isn't installed
  module_source_changed    the module is installed from another source
  module_version_changed   the installed version isn't allowed any more
  module_record_differs    modules.json would be written again
  module_differs           a module differs from the lock file for modules
  backend_uninitialized    the backend isn't recorded
  backend_changed          another backend or other settings are recorded
  backend_removed          a backend is recorded, and none is configured
  workspace_missing        the selected workspace doesn't exist
  plugin_dirs_changed      -plugin-dir differs from what is recorded

-plan has these codes, too, and "provider_upgrade" and "module_upgrade" if only
-upgrade is the reason. With -json it prints an object of the type "plan_module"
for each module that would be fetched, "plan_provider" for each provider,
"check_reason" for everything else, and at the end "plan" with up_to_date,
complete (false: modules aren't installed, so what they require is unknown),
modules, fetch, link, present, bytes and unknown_sizes.`
