package servecmd

import (
	"errors"
	"net/http"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// refusing is a transport that refuses all requests.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("down") }

// TestChild_ServicesAreAllOfAHosts: a host block replaces the discovery document, so the other services are repeated; a
// host that doesn't answer still gets its registries.
func TestChild_ServicesAreAllOfAHosts(t *testing.T) {
	forced := map[hosts.Hostname]map[string]string{
		"registry.terraform.io": {"providers.v1": "https://a.example.com/p/", "state.v2": "/api/state/"},
		"tfe.example.com":       {"modules.v1": "https://b.example.com/m/"},
		"none.example.com":      {},
	}
	c := childOf(quietFront(), forced, 0)
	got := must.Get(c.services(t.Context(), []string{"Down.example.com"}, "http://127.0.0.1:1/x/"))(t)
	for host, want := range map[hosts.Hostname]map[string]any{
		"registry.terraform.io": {"providers.v1": "http://127.0.0.1:1/x/registry.terraform.io/", "state.v2": "https://registry.terraform.io/api/state/"},
		"tfe.example.com":       {"modules.v1": "http://127.0.0.1:1/x/tfe.example.com/"},
		"none.example.com":      {},
		"down.example.com":      {"providers.v1": "http://127.0.0.1:1/x/down.example.com/", "modules.v1": "http://127.0.0.1:1/x/down.example.com/"},
		"registry.opentofu.org": {"providers.v1": "http://127.0.0.1:1/x/registry.opentofu.org/", "modules.v1": "http://127.0.0.1:1/x/registry.opentofu.org/"},
	} {
		must.Equal(t, len(got[host]), len(want), host, got[host])
		for id, url := range want {
			must.Equal(t, got[host][id], url, host, id)
		}
	}
	must.Refuse(c.services(t.Context(), []string{"no host"}, "http://127.0.0.1:1/x/"))(t, "-host that is none is no error")
}
