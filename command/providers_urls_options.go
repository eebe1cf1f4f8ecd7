package command

import (
	"cmp"
	"fmt"
)

// urlsOptions is what the arguments of providers urls ask for.
type urlsOptions struct {
	lockOptions      // those that both commands have
	sizes       bool // -sizes
}

// parseURLs reads the arguments of providers urls. The error is a *usageError;
// what is wrong with values is in the options' problems.
func parseURLs(args []string) (urlsOptions, error) {
	opts := urlsOptions{}
	var from string
	flags := newFlags("providers urls")
	flags.Func("platform", "", opts.addPlatform)
	flags.StringVar(&opts.fsMirror, "fs-mirror", "", "")
	flags.StringVar(&opts.netMirror, "net-mirror", "", "")
	flags.StringVar(&from, "from", "", "")
	flags.Func("dir", "", appendTo(&opts.dirs))
	flags.BoolVar(&opts.sizes, "sizes", false, "")
	flags.BoolVar(&opts.json, "json", false, "")
	opts.define(flags)
	if err := flags.Parse(args); err != nil {
		return opts, &usageError{text: fmt.Sprintf("Error parsing command-line flags: %s", err), help: true}
	}
	if flags.NArg() > 0 {
		return opts, &usageError{text: "The providers urls command takes no arguments.", help: true}
	}
	if from == "" && opts.fsMirror+opts.netMirror == "" {
		from = "config" // what init would do
	}
	opts.readSource(cmp.Or(from, "origin"))
	return opts, nil
}
