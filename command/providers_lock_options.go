package command

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// lockOptions is what the arguments of providers lock ask for.
type lockOptions struct {
	configurationOptions
	addresses []string // of providers; none: all that are required
	upgrades  []string // of -upgrade, ADDRESS[@VERSION]

	platforms    []getproviders.Platform
	allPlatforms bool // -platform=all

	fsMirror, netMirror string
	fromConfig          bool // -from=config
	policy              providercache.HashPolicy

	dirs  []string // of -dir, patterns among them; none: the current directory
	check bool
	json  bool

	problems view.Problems // with values of options
}

// parseLock reads the arguments of providers lock. The error is a *usageError;
// what is wrong with values is in the options' problems.
func parseLock(args []string, env Environment) (lockOptions, error) {
	var opts lockOptions
	var from, hashes string
	flags := newFlags("providers lock")
	flags.Func("platform", "", opts.addPlatform)
	flags.StringVar(&opts.fsMirror, "fs-mirror", "", "")
	flags.StringVar(&opts.netMirror, "net-mirror", "", "")
	flags.Bool("enable-plugin-cache", false, "") // no archive is fetched twice anyway
	flags.StringVar(&from, "from", "origin", "")
	flags.StringVar(&hashes, "hashes", defaultHashes(env), "")
	flags.Func("upgrade", "", appendTo(&opts.upgrades))
	flags.Func("dir", "", appendTo(&opts.dirs))
	flags.BoolVar(&opts.check, "check", false, "")
	flags.BoolVar(&opts.json, "json", false, "")
	opts.define(flags)
	if err := flags.Parse(args); err != nil {
		return opts, &usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}
	}
	opts.addresses = flags.Args()
	opts.readSource(from)
	var unread view.Problems
	opts.policy, unread = readHashPolicy(hashes)
	opts.problems = append(opts.problems, unread...)
	return opts, nil
}

func appendTo(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

func (o *lockOptions) addPlatform(given string) error {
	if given == "all" {
		o.allPlatforms = true
		return nil
	}
	plat, problems := targetPlatform(given)
	o.platforms, o.problems = append(o.platforms, plat), append(o.problems, problems...)
	return nil
}

// targetPlatform reads a value of -platform.
func targetPlatform(given string) (getproviders.Platform, view.Problems) {
	plat, err := getproviders.ParsePlatform(given)
	if err != nil {
		return plat, view.Problems{view.NewError("Invalid target platform", fmt.Sprintf(
			"The string %q given in the -platform option is not a valid target platform: must be two words separated by an underscore.", given))}
	}
	return plat, nil
}

// readSource checks the options that say where packages come from.
func (o *lockOptions) readSource(from string) {
	u, err := url.Parse(o.netMirror)
	switch o.fromConfig = from == "config"; {
	case !o.fromConfig && from != "origin":
		o.refuse("Invalid installation method options", fmt.Sprintf(
			"The value of -from is %q. It is \"origin\", each provider's own registry, or \"config\", what the CLI configuration says.", from))
	case o.fsMirror != "" && o.netMirror != "":
		o.refuse("Invalid installation method options", "The -fs-mirror and -net-mirror command line options are mutually-exclusive.")
	case o.fromConfig && o.fsMirror+o.netMirror != "":
		o.refuse("Invalid installation method options", "The option -from=config can't be used together with -fs-mirror or -net-mirror.")
	case o.netMirror != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http"):
		o.refuse("Invalid network mirror URL", "The -net-mirror option requires a valid https: URL as the mirror base URL.")
	}
}

// defaultHashes is the value of -hashes where it isn't typed.
func defaultHashes(env Environment) string { return cmp.Or(env.Get(hashesVariable), "auto") }

// readHashPolicy is parseHashPolicy for those who tell all problems at once.
func readHashPolicy(given string) (providercache.HashPolicy, view.Problems) {
	policy, err := parseHashPolicy(given)
	if err != nil {
		return policy, view.Problems{view.NewError("Invalid value of -hashes", fmt.Sprintf("The value of -hashes is %q. %s", given, sentence(err)))}
	}
	return policy, nil
}

// parseHashPolicy reads a value of -hashes: whom to believe about hashes.
func parseHashPolicy(given string) (providercache.HashPolicy, error) {
	switch given {
	case "auto":
		return providercache.TrustRegistryHashes, nil
	case "listed":
		return providercache.TrustMirrorHashes, nil
	case "read":
		return providercache.ComputeHashes, nil
	}
	return 0, errors.New(`it is "auto", to believe the providers' own registries, "listed", to believe mirrors, too, or "read", to believe nobody`)
}

func (o *lockOptions) refuse(summary, detail string) {
	o.problems = append(o.problems, view.NewError(summary, detail))
}

// providers reads the addresses of providers and those that are to be upgraded,
// with the versions that are asked for.
func (o *lockOptions) providers(product getproviders.Product) (only []getproviders.Provider, upgrades map[getproviders.Provider]getproviders.Version, problems view.Problems) {
	for _, address := range o.addresses {
		p, err := product.ParseProvider(address)
		if err != nil {
			problems = append(problems, addressProblem(err))
		}
		only = append(only, p)
	}
	upgrades = map[getproviders.Provider]getproviders.Version{}
	for _, given := range o.upgrades {
		address, text, exact := strings.Cut(given, "@")
		p, err := product.ParseProvider(address)
		if err != nil {
			problems = append(problems, addressProblem(err))
		}
		var v getproviders.Version
		if exact {
			if v, err = getproviders.ParseVersion(text); err != nil {
				problems = append(problems, view.NewError("Invalid provider version", fmt.Sprintf("The option -upgrade=%s can't be used: %v.", given, err)))
			}
		}
		only, upgrades[p] = append(only, p), v
	}
	return only, upgrades, problems
}

func addressProblem(err error) *view.Problem {
	if wrong, ok := errors.AsType[*getproviders.AddressError](err); ok {
		return view.NewError(wrong.Summary(), wrong.Detail)
	}
	return view.NewError("Invalid provider argument", sentence(err))
}
