package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Variables with which users say what the real tool has no setting for.
const (
	fallbackVariable           = "TFDEPS_MIRROR_FALLBACK"
	archiveCredentialsVariable = "TFDEPS_ARCHIVE_CREDENTIALS"
)

// reattachVariable lists providers that run already.
const reattachVariable = "TF_REATTACH_PROVIDERS"

// settings is what options, variables and the CLI configuration say about
// installing providers.
type settings struct {
	cli                *cliconfig.Config
	fallback           getproviders.Fallback
	archiveCredentials bool                           // for packages on the host that has the token
	skip               map[getproviders.Provider]bool // providers that come by other means
}

// readSettings finds out how to install. Warnings are told at once, because
// they may explain all that follows.
func (r *initRun) readSettings() view.Problems {
	var problems view.Problems
	r.cli, problems = r.cliConfig(r.engine)
	problems = slices.Concat(problems, r.readFallback(), r.readArchiveCredentials(), r.readSkipped())
	if problems.HasErrors() {
		return problems
	}
	r.view.Problems(problems)
	if !r.opts.pluginDirGiven {
		return nil
	}
	if err := r.recordPluginDirs(r.opts.pluginDirs); err != nil {
		return view.Problems{view.NewError("Failed to record the value of -plugin-dir", err.Error())}
	}
	return nil
}

func (r *initRun) readFallback() view.Problems {
	name, given := "-mirror-fallback", r.opts.mirrorFallback
	if given == "" {
		name, given = fallbackVariable, r.Env.Get(fallbackVariable)
	}
	if given == "" {
		return nil
	}
	var err error
	if r.fallback, err = getproviders.ParseFallback(given); err != nil {
		return view.Problems{view.NewError("Invalid mirror fallback", fmt.Sprintf("The value of %s can't be used: %v.", name, err))}
	}
	return nil
}

func (r *initRun) readArchiveCredentials() view.Problems {
	given := r.Env.Get(archiveCredentialsVariable)
	r.archiveCredentials = given == "same-host"
	if given == "" || r.archiveCredentials {
		return nil
	}
	return view.Problems{view.NewError("Invalid setting for credentials", fmt.Sprintf(
		"The value of %s is %q. The only one there is, besides none, is \"same-host\".", archiveCredentialsVariable, given))}
}

// readSkipped finds out which providers come by other means: their developers
// run them, from a directory of their own or started already.
func (r *initRun) readSkipped() view.Problems {
	r.skip = map[getproviders.Provider]bool{}
	for p := range r.cli.DevOverrides {
		r.skip[p] = true
	}
	running, err := cliconfig.Reattached(r.Env.Get(reattachVariable), r.engine)
	if err != nil {
		return view.Problems{view.NewError("Invalid value of "+reattachVariable, err.Error())}
	}
	for _, p := range running {
		r.skip[p] = true
	}
	return nil
}

// announceOverrides warns of providers that aren't what the configuration and
// the lock file say.
func (r *initRun) announceOverrides() view.Problems {
	overrides := r.cli.DevOverrides
	if len(overrides) == 0 {
		return nil
	}
	var list strings.Builder
	for _, p := range slices.SortedFunc(maps.Keys(overrides), getproviders.Provider.Compare) {
		fmt.Fprintf(&list, "\n - %s in %s", r.engine.Short(p), overrides[p])
	}
	return view.Problems{view.NewWarning("Provider development overrides are in effect", fmt.Sprintf(
		"The following provider development overrides are set in the CLI configuration:%s\n\n"+
			"These providers are not installed, and what the lock file says of them stays as it is: %s runs them "+
			"from these directories.", list.String(), r.engine.Program))}
}
