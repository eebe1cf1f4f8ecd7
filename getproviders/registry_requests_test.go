package getproviders_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestRegistrySource_Requests takes several providers at once from discovery to authentication,
// and counts requests.
func TestRegistrySource_Requests(t *testing.T) {
	registry := must.Get(providertest.NewRegistry(providertest.Options{}))(t)
	defer registry.Close()
	source := &getproviders.RegistrySource{
		Client:    registry.Client(),
		Discovery: &hosts.Discovery{Client: registry.Client()},
		Product:   getproviders.Terraform("1.15.9"),
	}
	archive := providertest.Zip(map[string]string{"terraform-provider-x": "x"})
	var providers []getproviders.Provider
	for _, typ := range []string{"a", "b", "c"} {
		for _, version := range []string{"1.0.0", "1.1.0"} {
			registry.Add(providertest.PackageSpec{Namespace: "acme", Type: typ, Version: version, Archive: archive})
		}
		providers = append(providers, mustParse(t, registry.Host()+"/acme/"+typ))
	}

	digests := getproviders.Digests{SHA256: sha256.Sum256(archive)}
	results, errs := par.Map(t.Context(), len(providers), providers, func(ctx context.Context, p getproviders.Provider) (getproviders.AuthenticationResult, error) {
		return authenticateNewest(ctx, source, p, digests)
	})
	must.Succeed(t, errors.Join(errs...))
	for _, result := range results {
		must.Equal(t, result.TrustLevel, getproviders.LevelCommunity)
		must.Equal(t, result.KeyID, registry.Signer().KeyID())
	}
	for kind, want := range map[string]int{"discovery": 1, "versions": 3, "package": 3, "sums": 3, "signature": 3, "": 13, "HEAD": 0} {
		must.Equal(t, registry.Requests(kind), want, kind)
	}
}

// authenticateNewest authenticates the newest version of a provider by the digests of its archive.
func authenticateNewest(ctx context.Context, source getproviders.Source, p getproviders.Provider, d getproviders.Digests) (none getproviders.AuthenticationResult, err error) {
	available, err := source.Versions(ctx, p)
	if err != nil {
		return none, err
	}
	newest, _ := getproviders.Constraints{}.Newest(available.Versions)
	found, err := source.Package(ctx, p, newest, getproviders.CurrentPlatform())
	if err != nil {
		return none, err
	}
	trust, err := found.Trust.Loaded(ctx)
	if err != nil {
		return none, err
	}
	return trust.Authenticator.Authenticate(d)
}
