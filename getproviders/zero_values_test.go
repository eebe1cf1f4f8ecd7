package getproviders_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRegistrySource_MakesItsOwnDiscovery(t *testing.T) {
	for _, client := range []*http.Client{nil, {Transport: http.DefaultTransport}} {
		source := &getproviders.RegistrySource{Client: hosts.NewOfflineClient("the test")}
		if client != nil {
			source.Client = &http.Client{Transport: source.Client.Transport}
		}
		_, err := versionsOf(t, source)
		must.Fail(t, err, getproviders.ErrUnreachable)
		must.Fail(t, err, hosts.ErrOffline)
	}
}

func TestProduct_TheZeroOneIsTerraform(t *testing.T) {
	var zero getproviders.Product
	p, err := zero.ParseProvider("widget")
	if err != nil || p.String() != "registry.terraform.io/hashicorp/widget" {
		t.Errorf("got %q, %v", p, err)
	}
	if p, err = zero.ImpliedProvider("widget"); err != nil || p.Hostname != getproviders.Terraform("").DefaultHost {
		t.Errorf("got %q, %v", p, err)
	}
	must.Equal(t, zero.Short(p), "hashicorp/widget")
	if got := (getproviders.Product{Version: "1.2.3"}).OrDefault(); got.Name != "Terraform" || got.Version != "1.2.3" {
		t.Errorf("got %+v", got)
	}
	must.Equal(t, getproviders.OpenTofu("1.2.3").OrDefault().Name, "OpenTofu")
	registry := newFakeRegistry(t, map[string]answer{packagePath: {body: packageBody(t, map[string]any{"protocols": []string{"4.0"}})}}).source(t)
	registry.Product = zero
	_, wrong := packageOf(t, registry)
	if want := "provider registry.example/acme/widget v1.0.0 is not compatible with Terraform: it speaks plugin protocol 4.0, not 5 or 6"; wrong == nil || wrong.Error() != want {
		t.Errorf("got %q", wrong)
	}
}

func TestRegistrySource_AsksAgainForVersionsThatAreOld(t *testing.T) {
	for maxAge, want := range map[time.Duration]int{0: 3, time.Hour: 2, -1: 1} {
		fake := newFakeRegistry(t, map[string]answer{versionsPath: {body: `{"versions": [{"version": "1.0.0"}]}`}, indexPath: inJSON(goodIndex)})
		now := time.Unix(0, 0)
		registry, mirror := fake.source(t), fake.mirrorAt(t, mirrorBase)
		registry.VersionsMaxAge, registry.Now = maxAge, func() time.Time { return now }
		mirror.VersionsMaxAge, mirror.Signers.Now = maxAge, registry.Now
		for _, later := range []time.Duration{0, 14 * time.Minute, 30 * time.Minute, 31 * time.Minute, 80 * time.Minute} {
			now = time.Unix(0, 0).Add(later)
			for _, source := range []getproviders.Source{registry, mirror} {
				must.Get(versionsOf(t, source))(t)
			}
		}
		for _, path := range []string{versionsPath, indexPath} {
			must.Equal(t, fake.requests(path), want, maxAge, path)
		}
	}
}
