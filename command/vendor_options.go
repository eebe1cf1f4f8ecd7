package command

import (
	"flag"
	"fmt"
	"strconv"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/modules/vendored"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

// vendorOptions is what the arguments of vendor ask for.
type vendorOptions struct {
	configurationOptions
	platforms []getproviders.Platform // none: those of the record, else the current one
	unpacked  *bool                   // nil: as recorded
	lfs       *bool                   // nil: as recorded
	upgrade   bool
	prune     bool
	check     bool
	json      bool
	hashes    providercache.HashPolicy
	bundle    string // of -o
	unpack    string // of -unpack
	target    string // where to unpack

	problems view.Problems // with values of options
}

// parseVendor reads the arguments of vendor. The error is a *usageError; what is
// wrong with values is in the options' problems.
func parseVendor(args []string, env Environment) (vendorOptions, error) {
	opts := vendorOptions{target: "."}
	var hashes string
	flags := newFlags("vendor")
	flags.Func("platform", "", opts.addPlatform)
	flags.BoolFunc("unpacked", "", setOptional(&opts.unpacked))
	flags.BoolFunc("lfs", "", setOptional(&opts.lfs))
	flags.BoolVar(&opts.upgrade, "upgrade", false, "")
	flags.BoolVar(&opts.prune, "prune", false, "")
	flags.BoolVar(&opts.check, "check", false, "")
	flags.BoolVar(&opts.json, "json", false, "")
	flags.StringVar(&hashes, "hashes", defaultHashes(env), "")
	flags.StringVar(&opts.bundle, "o", "", "")
	flags.StringVar(&opts.unpack, "unpack", "", "")
	opts.define(flags)
	if err := flags.Parse(args); err != nil {
		return opts, &usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}
	}
	if opts.unpack != "" && flags.NArg() == 1 {
		opts.target = flags.Arg(0)
	} else if flags.NArg() > 0 {
		return opts, &usageError{text: "Too many command line arguments. Did you mean to use -chdir?"}
	}
	opts.checkTogether(flags)
	var unread view.Problems
	opts.hashes, unread = readHashPolicy(hashes)
	opts.problems = append(opts.problems, unread...)
	return opts, nil
}

// setOptional is for an option that may be left out, which means neither.
func setOptional(value **bool) func(string) error {
	return func(given string) error {
		b, err := strconv.ParseBool(given)
		*value = &b
		return err
	}
}

func (o *vendorOptions) addPlatform(given string) error {
	plat, problems := targetPlatform(given)
	o.platforms, o.problems = append(o.platforms, plat), append(o.problems, problems...)
	return nil
}

// checkTogether refuses options of which one makes no sense beside the other.
func (o *vendorOptions) checkTogether(flags *flag.FlagSet) {
	refuse := func(one, other, why string) {
		o.problems = append(o.problems, view.NewError(fmt.Sprintf("The %s flag conflicts with %s.", one, other), why+" Leave out one of the two."))
	}
	switch {
	case o.check && o.upgrade:
		refuse("-upgrade", "-check", "It always has something to do.")
	case o.check && o.bundle != "":
		refuse("-o", "-check", "A check writes nothing.")
	}
	if o.unpack == "" {
		return
	}
	flags.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "unpack", "json":
		default:
			refuse("-"+f.Name, "-unpack", "What is unpacked is what the archive has.")
		}
	})
}

// record is what is to be vendored: as the options say, else as before.
func (o *vendorOptions) record(was vendored.Record) vendored.Record {
	r := vendored.Record{Platforms: o.platforms, Unpacked: was.Unpacked, LFS: was.LFS, Modules: map[string]getproviders.Hash{}}
	if len(r.Platforms) == 0 {
		r.Platforms = was.Platforms
	}
	if len(r.Platforms) == 0 {
		r.Platforms = []getproviders.Platform{getproviders.CurrentPlatform()}
	}
	if o.unpacked != nil {
		r.Unpacked = *o.unpacked
	}
	if o.lfs != nil {
		r.LFS = *o.lfs
	}
	return r
}
