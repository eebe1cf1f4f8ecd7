package command

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
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
	json      bool
	offlineBy string // who set -offline; "": nobody did
	wanted    []providercache.Wanted
}

func parseCacheAdd(args []string, env Environment, product getproviders.Product) (o addOptions, err error) {
	flags := newFlags("cache add")
	o.place.define(flags)
	flags.Var(&o.locked, "locked", "")
	flags.BoolVar(&o.system, "system", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	offline := flags.Bool("offline", false, "")
	flags.Func("platform", "", func(given string) error {
		platform, err := getproviders.ParsePlatform(given)
		o.platforms = append(o.platforms, platform)
		return err
	})
	operands, by, err := parseOperandsOrVariables(flags, args, env)
	if *offline {
		o.offlineBy = by["offline"]
	}
	switch {
	case err != nil:
		return o, err
	case o.locked != nil:
		o.locked = append(o.locked, operands...)
	case len(operands) == 0:
		return o, &usageError{text: "Error: cache add needs providers, or -locked with directories that have lock files", help: true}
	default:
		if o.wanted, err = parseWanted(operands, product); err != nil {
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
	o, err := parseCacheAdd(args, m.Env, m.unversioned())
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
