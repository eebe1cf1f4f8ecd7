package command

// providersOptions is what the arguments of providers ask for.
type providersOptions struct {
	configurationOptions
	json      bool
	stateFile string // of -state; "" if there is none
}

// parseProviders reads the arguments of providers.
func parseProviders(args []string, env Environment) (opts providersOptions, err error) {
	flags := newFlags("providers")
	flags.BoolVar(&opts.json, "json", false, "")
	flags.StringVar(&opts.stateFile, "state", "", "")
	opts.define(flags)
	_, err = parseOptionsOrVariables(flags, args, env)
	return opts, err
}
