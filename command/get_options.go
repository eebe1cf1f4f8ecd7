package command

// getOptions is what the arguments of get ask for.
type getOptions struct {
	configurationOptions
	update    bool
	offlineBy string // who set -offline; "": nobody did
}

// parseGet reads the arguments of get.
func parseGet(args []string, env Environment) (opts getOptions, err error) {
	flags := newFlags("get")
	flags.BoolVar(&opts.update, "update", false, "")
	offline := flags.Bool("offline", false, "")
	opts.define(flags)
	by, err := parseOptionsOrVariables(flags, args, env)
	if err != nil || !*offline {
		return opts, err
	}
	if opts.offlineBy = by["offline"]; opts.update {
		return opts, &usageError{text: "Error: -update fetches modules anew, and " + opts.offlineBy + " allows no requests. Leave out one of the two."}
	}
	return opts, nil
}
