package command

import (
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// sourceOptions is what decides where providers come from.
type sourceOptions struct {
	network
	cli        *cliconfig.Config
	pluginDirs []string // of -plugin-dir; if there are any, nothing else counts
	fallback   getproviders.Fallback
	product    getproviders.Product

	vendored string // a directory that isn't a source, as it is to be filled; "": none

	// kept tells what is on this machine of sources that may not be asked;
	// required where there is no network.
	kept func(getproviders.Provider) []getproviders.CachedPackage
}

// options are the same for package cliconfig.
func (o sourceOptions) options() cliconfig.SourceOptions {
	return cliconfig.SourceOptions{
		Product: o.product, Network: o.Network, Dirs: o.pluginDirs, Except: o.vendored,
		Signers: o.signers, Fallback: o.fallback, Cached: o.kept,
	}
}

// sources makes the sources of providers: those that the user names, else the
// ones that everybody has.
func (m *Meta) sources(o sourceOptions) (getproviders.MultiSource, error) {
	options := o.options()
	options.User = m.user()
	return o.cli.Source(m.Context, options)
}

// user is whose CLI configuration counts.
func (m *Meta) user() cliconfig.User {
	return cliconfig.User{Environ: m.Env, HomeDir: m.HomeDir}
}
