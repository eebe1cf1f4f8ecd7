package command

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// mirrorOptions is what the arguments of providers mirror ask for.
type mirrorOptions struct {
	lockOptions          // those that both commands have
	target      string   // where the mirror is
	lockFile    bool     // -lock-file
	locked      pathList // of -locked
	versions    []string // of -versions, ADDRESS@VERSION
	allVersions bool     // -versions=all
	prune       bool
	pruneGrace  time.Duration // of -prune-grace
}

// defaultGrace is as long as an installation may take that has begun.
const defaultGrace = time.Hour

// parseMirror reads the arguments of providers mirror. The error is a
// *usageError; what is wrong with values is in the options' problems.
func parseMirror(args []string) (mirrorOptions, error) {
	opts := mirrorOptions{}
	var from string
	flags := newFlags("providers mirror")
	flags.Func("platform", "", opts.addPlatform)
	flags.BoolVar(&opts.lockFile, "lock-file", true, "")
	flags.StringVar(&opts.fsMirror, "fs-mirror", "", "")
	flags.StringVar(&opts.netMirror, "net-mirror", "", "")
	flags.StringVar(&from, "from", "origin", "")
	flags.Func("dir", "", appendTo(&opts.dirs))
	flags.Var(&opts.locked, "locked", "")
	flags.Func("versions", "", opts.addVersions)
	flags.BoolVar(&opts.prune, "prune", false, "")
	grace := flags.Duration("prune-grace", 0, "")
	opts.define(flags)
	if err := flags.Parse(args); err != nil {
		return opts, &usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}
	}
	opts.readSource(from)
	if flags.NArg() != 1 || flags.Arg(0) == "" {
		opts.refuse("No output directory specified", "The providers mirror command requires an output directory as a command-line argument.")
	}
	opts.target = flags.Arg(0)
	opts.readGrace(flags, *grace)
	return opts, nil
}

// readGrace reads how long what is pruned stays.
func (o *mirrorOptions) readGrace(flags *flag.FlagSet, given time.Duration) {
	o.pruneGrace = defaultGrace
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "prune-grace" {
			return
		}
		if o.pruneGrace = given; given < 0 {
			o.refuse("Invalid value of -prune-grace", fmt.Sprintf("The value of -prune-grace is %s. It is a time such as 90m or 24h, or 0.", given))
		}
		if !o.prune {
			o.refuse("The -prune-grace flag needs -prune", "It says when what -prune takes out of the mirror's indexes is removed. Without -prune that is never.")
		}
	})
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

// readsConfiguration reports whether directories say what is wanted: they do
// unless something else does.
func (o *mirrorOptions) readsConfiguration() bool {
	return len(o.dirs) > 0 || o.locked == nil && o.versions == nil
}

// listed are the versions that -versions names.
func (o *mirrorOptions) listed(product getproviders.Product) (wanted []providercache.MirrorWanted, problems view.Problems) {
	for _, given := range o.versions {
		address, text, _ := strings.Cut(given, "@")
		p, err := product.ParseProvider(address)
		if err != nil {
			problems = append(problems, addressProblem(err))
			continue
		}
		v, err := getproviders.ParseVersion(text)
		if err == nil && (p.IsBuiltIn() || p.IsLegacy()) {
			err = fmt.Errorf("%s has no packages", p)
		}
		if err != nil {
			problems = append(problems, view.NewError("Invalid provider version", fmt.Sprintf(
				"The option -versions=%s can't be used: %v. It takes \"all\", or ADDRESS@VERSION.", given, err)))
			continue
		}
		wanted = append(wanted, providercache.MirrorWanted{Wanted: providercache.Wanted{Provider: p, Version: v}})
	}
	return wanted, problems
}
