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

// reattachVariable lists providers that run already.
const reattachVariable = "TF_REATTACH_PROVIDERS"

// settings is what options, variables and the CLI configuration say about
// installing providers.
type settings struct {
	cli                *cliconfig.Config
	fallback           getproviders.Fallback
	archiveCredentials bool                           // for packages on the host that has the token
	skip               map[getproviders.Provider]bool // providers that come by other means
	sharing            sharing
}

// readSettings finds out how to install. Warnings are told at once, because
// they may explain all that follows.
func (r *initRun) readSettings() view.Problems {
	var problems view.Problems
	r.cli, problems = r.cliConfig(r.product)
	problems = slices.Concat(problems, r.readFallback(), r.readArchiveCredentials(), r.readSkipped(), r.readSharing())
	if problems.HasErrors() {
		return problems
	}
	r.view.Problems(problems)
	if !r.opts.pluginDirGiven || r.opts.check {
		return nil
	}
	if err := r.recordPluginDirs(r.opts.pluginDirs); err != nil {
		return view.Problems{view.NewError("Failed to record the value of -plugin-dir", err.Error())}
	}
	return nil
}

func (r *initRun) readFallback() view.Problems {
	if r.opts.mirrorFallback == "" {
		return nil
	}
	var err error
	if r.fallback, err = getproviders.ParseFallback(r.opts.mirrorFallback); err != nil {
		return view.Problems{view.NewError("Invalid mirror fallback",
			fmt.Sprintf("The value of %s can't be used: %v.", r.opts.by["mirror-fallback"], err))}
	}
	return nil
}

func (r *initRun) readArchiveCredentials() (problems view.Problems) {
	r.archiveCredentials, problems = r.sameHostCredentials()
	return problems
}

// sameHostCredentials reports whether tokens go to packages that are on the
// host of the registry.
func (m *Meta) sameHostCredentials() (bool, view.Problems) {
	given := m.Env.Get(archiveCredentialsVariable)
	if given == "" || given == "same-host" {
		return given != "", nil
	}
	return false, view.Problems{view.NewError("Invalid setting for credentials", fmt.Sprintf(
		"The value of %s is %q. The only one there is, besides none, is \"same-host\".", archiveCredentialsVariable, given))}
}

func (r *initRun) readSharing() (problems view.Problems) {
	r.sharing, problems = r.providerSharing(r.opts.cache, r.cli)
	return problems
}

func (r *initRun) readSkipped() (problems view.Problems) {
	r.skip, problems = r.skippedProviders(r.cli, r.product)
	return problems
}

// skippedProviders finds out which providers come by other means: their developers
// run them, from a directory of their own or started already.
func (m *Meta) skippedProviders(cli *cliconfig.Config, product getproviders.Product) (map[getproviders.Provider]bool, view.Problems) {
	skip := map[getproviders.Provider]bool{}
	for p := range cli.DevOverrides {
		skip[p] = true
	}
	running, err := cliconfig.Reattached(m.Env.Get(reattachVariable), product)
	if err != nil {
		return nil, view.Problems{view.NewError("Invalid value of "+reattachVariable, err.Error())}
	}
	for _, p := range running {
		skip[p] = true
	}
	return skip, nil
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
		fmt.Fprintf(&list, "\n - %s in %s", r.product.Short(p), overrides[p])
	}
	return view.Problems{view.NewWarning("Provider development overrides are in effect", fmt.Sprintf(
		"The following provider development overrides are set in the CLI configuration:%s\n\n"+
			"These providers are not installed, and what the lock file says of them stays as it is: %s runs them "+
			"from these directories.", list.String(), r.product.Program))}
}
