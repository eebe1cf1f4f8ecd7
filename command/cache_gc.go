package command

import (
	"cmp"
	"flag"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules/fetch"
	"github.com/tfdeps/tfdeps/providercache"
)

// gcOptions is what the arguments of cache gc ask for.
type gcOptions struct {
	place      cachePlace
	olderThan  time.Duration
	maxBytes   *int64
	keepLocked pathList
	remove     removal
}

// unusedAfter is how long a package may lie unused where nothing else is said.
const unusedAfter = 30 * 24 * time.Hour

func parseCacheGC(args []string) (o gcOptions, err error) {
	flags := newFlags("cache gc")
	o.place.define(flags)
	flags.Func("older-than", "", func(given string) (err error) {
		o.olderThan, err = parseAge(given)
		return err
	})
	flags.Func("max-size", "", func(given string) error {
		n, err := parseBytes(given)
		o.maxBytes = &n
		return err
	})
	flags.Var(&o.keepLocked, "keep-locked", "")
	o.remove.define(flags)
	operands, err := parseOperands(flags, args)
	if err != nil {
		return o, err
	}
	if o.keepLocked, err = o.keepLocked.with(operands, "-keep-locked"); err != nil {
		return o, err
	}
	if o.olderThan == 0 && o.maxBytes == nil && o.keepLocked == nil {
		o.olderThan = unusedAfter
	}
	return o, nil
}

// removal is what the commands have in common that remove something.
type removal struct {
	providercache.RemoveOptions
	json bool
}

func (o *removal) define(flags *flag.FlagSet) {
	flags.BoolVar(&o.DryRun, "dry-run", false, "")
	flags.BoolVar(&o.Linked, "force", false, "")
	flags.BoolVar(&o.json, "json", false, "")
}

// runCacheGC removes what isn't used any more.
func runCacheGC(m *Meta, args []string) (int, view.Problems, error) {
	o, err := parseCacheGC(args)
	if err != nil {
		return 0, nil, err
	}
	cache, _, problems := o.place.find(m)
	locked, unreadable := readLocked(o.keepLocked, m.unversioned())
	if problems = append(problems, unreadable...); problems.HasErrors() {
		return 0, problems, nil
	}
	policy := providercache.Policy{OlderThan: o.olderThan, MaxBytes: o.maxBytes, Keep: locked}
	done, err := m.upkeep(cache).Collect(m.Context, policy, o.remove.RemoveOptions)
	result := view.CacheRemoval{Cache: cache, Done: done, DryRun: o.remove.DryRun}
	if err != nil {
		problems = append(problems, cacheProblem("Failed to remove what isn't used", err)...)
	} else if o.place.dir == "" {
		m.sweepModules(&result, m.Now().Add(-cmp.Or(o.olderThan, unusedAfter)))
	}
	return 0, append(problems, m.report(result, o.remove.json)...), nil
}

// sweepModules removes from the store of modules what was fetched before a time.
func (m *Meta) sweepModules(result *view.CacheRemoval, before time.Time) {
	if store := m.moduleStore(); store != "" {
		swept := fetch.SweepStore(store, before, result.DryRun)
		result.Entries, result.Bytes = swept.Entries, swept.Bytes
	}
}
