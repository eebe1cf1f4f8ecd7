package hosts

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestDiscovery_AsksEachHostOnce(t *testing.T) {
	var asked recorder
	d := discovering(func(req *http.Request) *http.Response {
		asked.add(req.URL.Host)
		return jsonAnswer(req, `{"providers.v1":"/p/","modules.v1":"/m/"}`)
	})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			service := []string{"providers.v1", "modules.v1"}[i%2]
			u, err := d.Service(t.Context(), "example.com", service)
			if err != nil {
				t.Error(err)
				return
			}
			u.Path = "changed by the caller"
		})
	}
	all.Wait()
	must.Equal(t, asked.all(), "example.com")
	must.Equal(t, must.Get(d.Service(t.Context(), "example.com", "providers.v1"))(t).String(), "https://example.com/p/")
	must.Get(d.Service(t.Context(), "example.org", "providers.v1"))(t)
	must.Equal(t, asked.all(), "example.com example.org", "asked")
}

// TestDiscovery_RemembersSoManyHosts: a server's clients choose which hosts are asked.
func TestDiscovery_RemembersSoManyHosts(t *testing.T) {
	asked := 0
	d := discovering(func(req *http.Request) *http.Response {
		asked++
		return answer(req, 404)
	})
	for i := range 600 {
		d.Service(t.Context(), Hostname(fmt.Sprintf("h%d.example.com", i%300)), "providers.v1")
	}
	must.Equal(t, asked > 450, true, asked)
}

func TestDiscovery_ForgetsFailures(t *testing.T) {
	asked := 0
	d := discovering(func(req *http.Request) *http.Response {
		if asked++; asked == 1 {
			return answer(req, 503)
		}
		return answer(req, 404)
	})
	for i, want := range []error{ErrHostUnreachable, ErrNoService, ErrNoService} {
		must.Fail(t, must.ErrorOf(d.Service(t.Context(), "example.com", "providers.v1")), want, i)
	}
	must.Equal(t, asked, 2)
}

// TestDiscovery_InHasteAFailureCounts has a host that takes a minute to fail, as unreachable ones do.
func TestDiscovery_InHasteAFailureCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		d := discovering(func(req *http.Request) *http.Response {
			asked++
			time.Sleep(time.Minute)
			return answer(req, 503)
		})
		d.Hasty = true
		for i, pause := range []time.Duration{0, 9 * time.Second, 2 * time.Second} {
			time.Sleep(pause)
			must.Fail(t, must.ErrorOf(d.Service(t.Context(), "example.com", "providers.v1")), ErrHostUnreachable)
			must.Equal(t, asked, []int{1, 1, 2}[i])
		}
	})
}

func TestDiscovery_TellsEachCallerItsOwnService(t *testing.T) {
	d := discovering(func(req *http.Request) *http.Response { return answer(req, 404) })
	for _, service := range []string{"providers.v1", "modules.v1"} {
		_, err := d.Service(t.Context(), "example.com", service)
		must.Equal(t, must.As[*Fault](t, err, service).Common, "discovery example.com "+service)
	}
}

func TestDiscovery_EndsWithTheContext(t *testing.T) {
	srv := startTLS(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	d := &Discovery{Client: clientFor(t, srv, quick(3))}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(t, must.ErrorOf(d.Service(ctx, hostOf(t, srv), "providers.v1")), context.Canceled)
}

func TestDiscovery_ForcedServicesNeedNoNetwork(t *testing.T) {
	d := Discovery{Forced: map[Hostname]map[string]string{
		"example.com:8443": {"providers.v1": "https://127.0.0.1:1234/p/", "modules.v1": "m/"},
		"example.org":      nil,
		"example.net":      {"providers.v1": "http://example.net/p/"},
	}}
	for _, tc := range []struct {
		host    Hostname
		service string
		want    string
		kind    error
	}{
		{"example.com:8443", "providers.v1", "https://127.0.0.1:1234/p/", nil},
		{"example.com:8443", "modules.v1", "https://example.com:8443/.well-known/m/", nil},
		{"example.com:8443", "modules.v2", "", ErrServiceVersion},
		{"example.com:8443", "login.v1", "", ErrNoService},
		{"example.org", "providers.v1", "", ErrNoService},
		{"example.net", "providers.v1", "http://example.net/p/", nil}, // the user's own choice
	} {
		u, err := d.Service(t.Context(), tc.host, tc.service)
		if tc.kind != nil {
			must.Fail(t, err, tc.kind, tc.service, tc.host)
			continue
		}
		must.Succeed(t, err)
		must.Equal(t, u.String(), tc.want, tc.service, tc.host, u)
	}
}
