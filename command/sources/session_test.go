package sources

import (
	"errors"
	"net/http"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// If making a network fails, the previous one stays, because init continues with it.
func TestConnect_KeepsTheNetworkBefore(t *testing.T) {
	t.Parallel()
	var failure error
	s := New(&cli.Meta{NewClient: func(hosts.ClientOptions) (*http.Client, error) { return new(http.Client), failure }}, getproviders.Terraform(""), false)
	defer s.Close()
	s.Config = new(cliconfig.Config)
	must.Equal(t, s.Connect("", ""), true)
	failure = errors.New("no certificates")
	must.Equal(t, s.Connect("", "tfe.example.com"), false)
	must.Equal(t, s.Modules().Fetcher != nil && s.Archives != nil, true)
}
