package command

import (
	"net/http"
	"runtime"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// credentials are the user's tokens for hosts: those of variables come first,
// then those of the CLI configuration, then those that a program knows. That
// there is no such program is a warning, as the tokens may not be needed.
func (m *Meta) credentials(cli *cliconfig.Config) (hosts.Credentials, view.Problems) {
	known := []hosts.Credentials{hosts.EnvTokens(m.Env), cli.Tokens}
	if cli.Helper == nil {
		return hosts.FirstOf(known...), nil
	}
	helper, err := hosts.NewHelperTokens(hosts.Helper{
		Name: cli.Helper.Name,
		Args: cli.Helper.Args,
		Dirs: cliconfig.HelperDirs(m.configDir(), getproviders.CurrentPlatform()),
		Env:  m.Env,
	})
	if err != nil {
		return hosts.FirstOf(known...), view.Problems{view.NewWarning("Credentials helper not found",
			"The CLI configuration asks for a credentials helper, and there is "+err.Error()+
				". Requests go without the tokens that it may know.")}
	}
	return hosts.FirstOf(append(known, helper)...), nil
}

// archiveClient returns the client for packages. The protocols have no
// credentials for those, so that what is sent with requests is what the user's
// .netrc says of their hosts, and nothing else; with sameHost, a registry's or
// a mirror's token may go to packages that it has itself.
func (m *Meta) archiveClient(client *http.Client, credentials hosts.Credentials, sameHost bool) *http.Client {
	client = hosts.WithNetrc(client, hosts.NetrcFiles(m.Env.Get, m.HomeDir, runtime.GOOS))
	if sameHost {
		client = hosts.WithArchiveCredentials(client, credentials)
	}
	return client
}
