package modules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func newRegistry(t *testing.T) *providertest.Registry {
	t.Helper()
	registry := must.Get(providertest.NewRegistry(providertest.Options{}))(t)
	t.Cleanup(registry.Close)
	return registry
}

// newRegistries asks a registry as example.com.
func newRegistries(registry *providertest.Registry) *Registries {
	return &Registries{
		Client: registry.Client(),
		Discovery: &hosts.Discovery{
			Client: registry.Client(),
			Forced: map[hosts.Hostname]map[string]string{"example.com": {"modules.v1": registry.ModulesURL()}},
		},
		Product: asTerraform,
	}
}

var netModule = Registry{Host: "example.com", Namespace: "acme", Name: "net", System: "cloud", Subdir: "sub"}

// addNet publishes versions of netModule.
func addNet(registry *providertest.Registry, versions ...string) {
	for _, version := range versions {
		registry.AddModule(providertest.ModuleSpec{
			Namespace: "acme", Name: "net", System: "cloud", Version: version, Location: "/net-" + version + ".tgz//in",
		})
	}
}

func TestRegistry_EachQuestionIsAskedOnce(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	addNet(registry, "1.0.0", "1.1.0")
	registries := newRegistries(registry)
	constraints := []string{"", "~> 1.0", "1.1", ">= 1.0.0", "1.1.0", "!= 1.0.0"}
	_, errs := par.Map(t.Context(), runtime.GOMAXPROCS(0), constraints, func(ctx context.Context, constraint string) (struct{}, error) {
		choice, err := registries.Select(ctx, netModule, constraint)
		if err != nil || choice.Version != "1.1.0" || len(choice.Warnings) > 0 {
			t.Errorf("%q: got %+v, %v", constraint, choice, err)
		}
		remote, err := registries.Locate(ctx, netModule, choice.Version, false)
		if want := (Remote{Package: registry.BaseURL() + "/net-1.1.0.tgz", Subdir: "in/sub"}); remote != want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", constraint, remote, err, want)
		}
		return struct{}{}, err
	})
	must.Succeed(t, errors.Join(errs...))
	for kind, want := range map[string]int{"module/versions": 1, "module/download": 1, "module/archive": 0} {
		must.Equal(t, registry.Requests(kind), want, kind)
	}
	for _, req := range registry.Log() {
		if req.Header.Get("X-Terraform-Version") != "1.15.9" || req.Header.Get("Authorization") != "" {
			t.Errorf("%s has the header %v", req.Path, req.Header)
		}
	}
}

func TestRegistry_CredentialsOfTheHostGoAlong(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	addNet(registry, "1.0.0")
	registry.RequireToken("s3cret", "module/versions", "module/download")
	with := func(token string) *Registries {
		registries := newRegistries(registry)
		registries.Credentials = hosts.NewStaticTokens(map[hosts.Hostname]string{"example.com": token})
		registries.Product.Version = ""
		return registries
	}
	choice := must.Get(with("s3cret").Select(t.Context(), netModule, ""))(t)
	must.Get(with("s3cret").Locate(t.Context(), netModule, choice.Version, false))(t)
	_, err := with("0ther").Select(t.Context(), netModule, "")
	must.Contain(t, err, "rejected the given")
	must.NotContain(t, err, "0ther")
	must.Len(t, registry.Log()[0].Header["X-Terraform-Version"], 0)
}

// registryFailures maps failures of a registry to words of the error, separated by bars: the headline ("" means the usual
// one), the text, a hint.
var registryFailures = []struct {
	kind  string
	fault providertest.Fault
	is    error
	words string
}{
	{"module/versions", providertest.Fault{Status: 404}, ErrModuleNotFound, `Module not found|acme/net/cloud|the program needs credentials for "example.com"`},
	{"module/download", providertest.Fault{Status: 404}, ErrModuleNotFound, "Module not found|in version 1.0.0|lists the version"},
	{"module/versions", providertest.Fault{Status: 401}, getproviders.ErrUnauthorized, `|requires authentication credentials|the program needs credentials for "example.com"`},
	{"module/download", providertest.Fault{Status: 403}, getproviders.ErrUnauthorized, `|denies access|the program needs credentials for "example.com"`},
	{"module/versions", providertest.Fault{Status: 500}, getproviders.ErrUnreachable, "|500 Internal Server Error|"},
	{"module/versions", providertest.Fault{Status: 204}, getproviders.ErrUnreachable, "|204 No Content|"},
	{"module/versions", providertest.Fault{CutAfter: 3}, getproviders.ErrUnreachable, "|/v1/modules/acme/net/cloud/versions|"},
	{"module/versions", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>") }}, getproviders.ErrUnreachable, "|malformed answer|"},
	{"module/versions", providertest.Fault{Body: func([]byte) []byte { return make([]byte, 16<<20+1) }}, getproviders.ErrUnreachable, "|larger than|"},
	{"module/download", providertest.Fault{Header: http.Header{"X-Terraform-Get": nil}}, getproviders.ErrUnreachable, "|names no location|"},
	{"module/download", providertest.Fault{Header: http.Header{"X-Terraform-Get": {"a/b/c"}}}, getproviders.ErrUnreachable,
		"Invalid package location from module registry|registry.terraform.io/a/b/c|"},
}

func TestRegistry_FailuresHaveKindsOfTheirOwn(t *testing.T) {
	for _, c := range registryFailures {
		t.Run(c.words, func(t *testing.T) {
			t.Parallel()
			registry := newRegistry(t)
			addNet(registry, "1.0.0")
			registry.Break(c.kind, c.fault)
			registries := newRegistries(registry)
			choice, err := registries.Select(t.Context(), netModule, "")
			if err == nil {
				_, err = registries.Locate(t.Context(), netModule, choice.Version, false)
			}
			must.Fail(t, err, c.is)
			must.Equal(t, must.As[*getproviders.Fault](t, err).Host, netModule.Host)
			words := strings.Split(c.words, "|")
			must.Equal(t, headline(err), cmp.Or(words[0], "Error accessing remote module registry"))
			must.Contain(t, err, words[1])
			must.Contain(t, strings.Join(getproviders.HintsOf(err), ""), words[2])
			registry.Break(c.kind, providertest.Fault{})
			choice = must.Get(registries.Select(t.Context(), netModule, ""))(t, "the failure is remembered")
			must.Get(registries.Locate(t.Context(), netModule, choice.Version, false))(t, "the failure is remembered")
		})
	}
}

func TestRegistry_AHostWithoutModulesIsNoRegistry(t *testing.T) {
	t.Parallel()
	registries := newRegistries(newRegistry(t))
	registries.Discovery.Forced["example.com"] = map[string]string{"providers.v1": "/"}
	_, err := registries.Select(t.Context(), netModule, "")
	must.Fail(t, err, hosts.ErrNoService)
	must.Contain(t, must.As[*getproviders.Fault](t, err).Hint, "not a module registry")
}

// The location is relative to the requested URL, not to the target of a redirect.
func TestRegistry_RelativeLocationsIgnoreRedirects(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	addNet(registry, "1.0.0")
	registry.AddModule(providertest.ModuleSpec{Namespace: "other", Name: "net", System: "cloud", Version: "1.0.0", Location: "./net.tgz"})
	registry.Break("module/download", providertest.Fault{Redirect: "/v1/modules/other/net/cloud/1.0.0/download", Times: 1})
	remote, err := newRegistries(registry).Locate(t.Context(), netModule, "1.0.0", false)
	must.Succeed(t, err, remote)
	must.Equal(t, remote.Package, registry.ModulesURL()+"acme/net/cloud/1.0.0/net.tgz", remote)
}

func TestRegistry_AVersionThatIsNoneIsNotAskedFor(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	for _, version := range []string{"", "../../x", "1.0.0/../.."} {
		must.Refuse(newRegistries(registry).Locate(t.Context(), netModule, version, false))(t, version)
	}
	must.Equal(t, registry.Requests(""), 0)
}

func TestRegistry_ACanceledCallGetsTheReason(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	registry.Break("module/versions", providertest.Fault{Stall: true})
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	must.Fail(t, must.ErrorOf(newRegistries(registry).Select(ctx, netModule, "")), gone)
}

// Errors are redacted, even if the API of the host is at a URL with a secret.
func TestRegistry_ErrorsOfRegistriesKeepSecrets(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	registries := newRegistries(registry)
	u := must.Get(url.Parse(registry.ModulesURL()))(t)
	u.User = url.UserPassword("me", "S3CRET")
	registries.Discovery.Forced["example.com"]["modules.v1"] = u.String()
	err := must.ErrorOf(registries.Select(t.Context(), netModule, ""))
	must.Refuse(err)(t)
	must.NotContain(t, err, "S3CRET")
}

// The URL of the service is that of a directory, with or without a trailing slash, and from any
// source.
func TestRegistry_URLNeedsNoSlash(t *testing.T) {
	t.Parallel()
	registry := newRegistry(t)
	addNet(registry, "1.0.0")
	registries := newRegistries(registry)
	service := strings.TrimSuffix(registry.ModulesURL(), "/")
	host := must.Get(providertest.NewServer(providertest.ServerOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"modules.v1": %q}`, service)
	})}))(t)
	t.Cleanup(host.Close)
	registries.Discovery.Forced["example.com"]["modules.v1"] = service
	registries.Discovery.Client = host.Client()
	found := netModule
	found.Host = hosts.Hostname(host.Host())
	for _, module := range []Registry{netModule, found} {
		must.Equal(t, must.Get(registries.Select(t.Context(), module, ""))(t, module.Host).Version, "1.0.0")
		must.Get(registries.Locate(t.Context(), module, "1.0.0", false))(t, module.Host)
	}
}
