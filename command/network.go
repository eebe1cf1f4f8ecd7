package command

import (
	"net/http"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
)

// network is how hosts are reached. There is one for all that a command asks for.
type network struct {
	cliconfig.Network
	signers getproviders.Signers // whose signatures count in mirrors
}

// reachable makes the clients. offlineBy is what forbids requests, such as
// "-offline"; sameHost lets tokens go to packages that are on the host of the
// registry.
func (m *Meta) reachable(offlineBy string, product getproviders.Product, cli *cliconfig.Config, sameHost bool) (network, view.Problems) {
	var client *http.Client
	if offlineBy == "" {
		var err error
		if client, err = m.NewClient(m.userAgent(product)); err != nil {
			return network{}, view.Problems{view.NewError("Can't make an HTTP client", err.Error())}
		}
	}
	made, found := cli.Network(cliconfig.NetworkOptions{Client: client, User: m.user(), SameHost: sameHost, OfflineBy: offlineBy})
	var problems view.Problems
	for _, p := range found {
		problems = append(problems, cliConfigProblem(p))
	}
	signers, invalid := m.signers(product)
	return network{made, signers}, append(problems, invalid...)
}

// online reads the CLI configuration and makes the clients that it asks for; by is
// as for reachable. There is no network if there are errors.
func (m *Meta) online(product getproviders.Product, by string) (*cliconfig.Config, network, view.Problems) {
	cli, problems := m.cliConfig(product)
	sameHost, invalid := m.sameHostCredentials()
	if problems = append(problems, invalid...); problems.HasErrors() {
		return cli, network{}, problems
	}
	net, unreached := m.reachable(by, product, cli, sameHost)
	return cli, net, append(problems, unreached...)
}
