package getproviders

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestRegistrySource_MakesItsOwnDiscovery(t *testing.T) {
	for _, client := range []*http.Client{nil, {Transport: http.DefaultTransport}} {
		source := &RegistrySource{Client: hosts.NewOfflineClient("the test")}
		if client != nil {
			source.Client = &http.Client{Transport: source.Client.Transport}
		}
		_, err := versionsOf(t, source)
		must.Fail(t, err, ErrUnreachable)
		must.Fail(t, err, hosts.ErrOffline)
	}
}

func TestProduct_TheZeroOneIsTerraform(t *testing.T) {
	var zero Product
	p := must.Get(zero.ParseProvider("widget"))(t)
	must.Equal(t, p.String(), "registry.terraform.io/hashicorp/widget")
	must.Equal(t, must.Get(zero.ImpliedProvider("widget"))(t), p)
	must.Equal(t, zero.Short(p), "hashicorp/widget")
	got := Product{Version: "1.2.3"}.OrDefault()
	must.Equal(t, got.Name+got.Version, "Terraform1.2.3")
	must.Equal(t, OpenTofu("1.2.3").OrDefault().Name, "OpenTofu")
	registry := newFakeRegistry(t, pages{packagePath: packageBody(t, map[string]any{"protocols": []string{"4.0"}})}).source(t)
	registry.Product = zero
	_, wrong := packageOf(t, registry)
	must.Equal(t, fmt.Sprint(wrong), "provider registry.example/acme/widget v1.0.0 is not compatible with Terraform: it speaks plugin protocol 4.0, not 5 or 6")
}

func TestRegistrySource_AsksAgainForWhatIsOld(t *testing.T) {
	for maxAge, want := range map[time.Duration]int{0: 3, time.Hour: 2, -1: 1} {
		fake := newFakeRegistry(t, pages{versionsPath: `{"versions": [{"version": "1.0.0"}]}`, indexPath: goodIndex,
			packagePath: packageBody(t, map[string]any{"shasums_url": "/sums", "shasums_signature_url": "/sig"}), "/sums": "", "/sig": ""})
		synctest.Test(t, func(t *testing.T) {
			client := &http.Client{Transport: inProcess{fake}}
			registry := &RegistrySource{Client: client, VersionsMaxAge: maxAge, Discovery: fake.source(t).Discovery}
			mirror := must.Get(NewNetworkMirrorSource(fake.URL+mirrorBase, client, nil, terraform))(t)
			mirror.VersionsMaxAge = maxAge
			for _, pause := range []time.Duration{0, 14 * time.Minute, 16 * time.Minute, time.Minute, 49 * time.Minute} {
				time.Sleep(pause)
				for _, source := range []Source{registry, mirror} {
					must.Get(versionsOf(t, source))(t)
				}
				must.Get(must.Get(packageOf(t, registry))(t).Trust.Loaded(t.Context()))(t)
			}
		})
		for _, path := range []string{versionsPath, indexPath} {
			must.Equal(t, fake.requests(path), want, maxAge, path)
		}
		must.Equal(t, fake.requests("/sums"), 3, maxAge, "publishers sign lists again")
	}
}
