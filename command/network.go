package command

import (
	"net/http"

	"github.com/tfdeps/tfdeps/command/view"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// network is how hosts are reached. There is one for all that a command asks for, so that
// a host is asked once what it offers.
type network struct {
	client      *http.Client // for registries and mirrors
	archives    *http.Client // for packages
	credentials hosts.Credentials
	discovery   *hosts.Discovery
	signers     getproviders.Signers // whose signatures count in mirrors
	offlineBy   string               // what forbids requests, such as "-offline"; "": nothing does
}

// offlineNetwork makes clients that refuse to send anything. Nobody is asked
// for tokens either: a credentials helper may well ask a host.
func offlineNetwork(by string, cli *cliconfig.Config) network {
	client := hosts.NewOfflineClient(by)
	return network{
		client:    client,
		archives:  client,
		discovery: &hosts.Discovery{Client: client, Forced: cli.Hosts},
		offlineBy: by,
	}
}

// reachable is network, or where requests are forbidden, offlineNetwork.
func (m *Meta) reachable(offlineBy string, product getproviders.Product, cli *cliconfig.Config, sameHost bool) (network, view.Problems) {
	if offlineBy != "" {
		n := offlineNetwork(offlineBy, cli)
		signers, problems := m.signers(product)
		n.signers = signers
		return n, problems
	}
	return m.network(product, cli, sameHost)
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

// network makes the clients. sameHost lets tokens go to packages that are on
// the host of the registry.
func (m *Meta) network(product getproviders.Product, cli *cliconfig.Config, sameHost bool) (network, view.Problems) {
	client, err := m.NewClient(m.userAgent(product))
	if err != nil {
		return network{}, view.Problems{view.NewError("Can't make an HTTP client", err.Error())}
	}
	credentials, problems := m.credentials(cli)
	signers, invalid := m.signers(product)
	problems = append(problems, invalid...)
	return network{
		client:      client,
		archives:    m.archiveClient(client, credentials, sameHost),
		credentials: credentials,
		signers:     signers,
		discovery:   &hosts.Discovery{Client: client, Credentials: credentials, Forced: cli.Hosts},
	}, problems
}
