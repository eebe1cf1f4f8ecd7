package command

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// sourceDateVariable says which time files get that must not tell when they were
// made, in seconds since 1970.
const sourceDateVariable = "SOURCE_DATE_EPOCH"

// systemCacheDir is where an image has the cache.
const systemCacheDir = "/usr/share/tfdeps"

// addOptions is what the arguments of cache add ask for.
type addOptions struct {
	place     cachePlace
	locked    pathList
	platforms []getproviders.Platform
	system    bool
	wanted    []providercache.Wanted
}

func parseCacheAdd(args []string) (o addOptions, err error) {
	flags := newFlags("cache add")
	o.place.define(flags)
	flags.Var(&o.locked, "locked", "")
	flags.BoolVar(&o.system, "system", false, "")
	flags.Func("platform", "", func(given string) error {
		platform, err := getproviders.ParsePlatform(given)
		o.platforms = append(o.platforms, platform)
		return err
	})
	operands, err := parseOperands(flags, args)
	switch {
	case err != nil:
		return o, err
	case o.locked != nil:
		o.locked = append(o.locked, operands...)
	case len(operands) == 0:
		return o, &usageError{text: "Error: cache add needs providers, or -locked with directories that have lock files", help: true}
	default:
		if o.wanted, err = parseWanted(operands); err != nil {
			return o, err
		}
	}
	if o.system && o.place.dir == "" {
		o.place.dir = systemCacheDir
	}
	if len(o.platforms) == 0 {
		o.platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	return o, nil
}

// runCacheAdd puts packages into the cache.
func runCacheAdd(m *Meta, args []string) (int, view.Problems, error) {
	o, err := parseCacheAdd(args)
	if err != nil {
		return 0, nil, err
	}
	add := &cacheAdd{Meta: m, addOptions: o, made: time.Unix(315532800, 0)} // 1980, where the time of archives begins
	if given := m.Env.Get(sourceDateVariable); given != "" {
		seconds, err := strconv.ParseInt(given, 10, 64)
		if err != nil {
			return 0, nil, &usageError{text: fmt.Sprintf("Error: the value of %s is %q, and has to be a number of seconds", sourceDateVariable, given)}
		}
		add.made = time.Unix(seconds, 0)
	}
	return 0, add.all(), nil
}

// cacheAdd is one run of cache add.
type cacheAdd struct {
	*Meta
	addOptions
	engine getproviders.Engine
	cache  *providercache.Cache
	cli    *cliconfig.Config
	made   time.Time // what files of an image are to say of their age
}

// all does what the command is for.
func (a *cacheAdd) all() (problems view.Problems) {
	if a.engine, problems = a.Meta.engineOf(); problems.HasErrors() {
		return problems
	}
	a.cache, a.cli, problems = a.place.find(a.Meta)
	if a.locked != nil {
		locked, unreadable := readLocked(a.locked)
		a.wanted, problems = providercache.WantedBy(locked), append(problems, unreadable...)
	}
	if problems.HasErrors() {
		return problems
	}
	installer, unreachable := a.installer()
	if problems = append(problems, unreachable...); problems.HasErrors() {
		return problems
	}
	return append(problems, a.fill(installer)...)
}

// installer makes what fetches, from the sources of the CLI configuration.
func (a *cacheAdd) installer() (func(getproviders.Platform) *providercache.Installer, view.Problems) {
	sameHost, problems := a.sameHostCredentials()
	net, unreached := a.network(a.engine, a.cli, sameHost)
	if problems = append(problems, unreached...); problems.HasErrors() {
		return nil, problems
	}
	source, err := a.sources(sourceOptions{network: net, cli: a.cli, engine: a.engine})
	if err != nil {
		return nil, append(problems, view.NewError("Can't search for providers", err.Error()))
	}
	state := a.StateDir
	if a.system {
		state = "" // what is known of an image stands beside it
	}
	return func(plat getproviders.Platform) *providercache.Installer {
		return &providercache.Installer{
			Source: source, Client: net.archives, Engine: a.engine, Platform: plat, Now: a.Now, Cache: a.cache, StateDir: state,
		}
	}, problems
}

// fill fetches what isn't there, for one platform after the other.
func (a *cacheAdd) fill(installer func(getproviders.Platform) *providercache.Installer) (problems view.Problems) {
	var filled []providercache.Filled
	for _, plat := range a.platforms {
		more, err := installer(plat).Fill(a.Context, a.wanted)
		filled = append(filled, more...)
		if err != nil {
			problems = append(problems, view.InstallProblems(a.engine, getproviders.Requirements{}, err, nil)...)
		}
	}
	view.CacheFilled(a.Stdout, a.cache.Dir, filled)
	if !a.system {
		return problems
	}
	receipts, err := a.cache.Seal(a.Context, filled, filepath.Clean(a.place.dir), a.made)
	if err != nil {
		return append(problems, view.NewError("Failed to make the cache fit for an image", err.Error()))
	}
	if !receipts {
		problems = append(problems, view.NewWarning("No receipts", fmt.Sprintf(
			"Somebody else than root can write to %s or to a directory above it. So nothing could be trusted that is noted "+
				"about the packages, and nothing was: whoever uses them first reads and hashes them.", a.cache.Dir)))
	}
	return problems
}
