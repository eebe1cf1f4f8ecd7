package mirror_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// trusts makes the signatures of the tests' registry count in a mirror.
func trusts(registry *providertest.Registry) getproviders.Signers {
	return getproviders.Signers{Trusted: []getproviders.TrustedKey{{Armored: registry.Signer().Armored()}}}
}

// sources are the two kinds of source that can install from the mirror.
func (m *mirroring) sources(t *testing.T) (all map[string]getproviders.Source, served *providertest.Server) {
	t.Helper()
	server := must.Get(providertest.NewServer(providertest.ServerOptions{Handler: http.FileServer(http.Dir(m.dir))}))(t)
	t.Cleanup(server.Close)
	network := must.Get(getproviders.NewNetworkMirrorSource(server.BaseURL()+"/", server.Client(), nil, product))(t)
	network.Signers = trusts(m.registry)
	return map[string]getproviders.Source{
		"filesystem": &getproviders.FilesystemMirrorSource{Dir: m.dir, Signers: trusts(m.registry)}, "network": network,
	}, server
}

// installed is the result of an installation: its lock file, and its message for the user.
func (m *mirroring) installed(t *testing.T, source getproviders.Source, client *http.Client, locks *depsfile.Locks) (text string) {
	t.Helper()
	in := newInstaller(t, source)
	in.Fetcher.Client = client
	updated, report := install(t, in, require(widgetAddress, "1.0.0"), locks)
	o := report.Outcomes[0].Authentication
	return o.TrustLevel.String() + " " + o.KeyID + "\n" + string(updated.Encode(product))
}

// TestMirror_LockedHashesNeedNoDocuments counts requests to a mirror without documents, as other
// programs make them.
func TestMirror_LockedHashesNeedNoDocuments(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	for _, name := range documents("widget", "1.0.0") {
		succeed(t, os.Remove(m.file(name)))
	}
	h1 := lockOne(t, m.Installer, providercache.LockRequest{Requirements: require(widgetAddress, "1.0.0"), Platforms: onLinux}).Packages[0].Hashes
	for name, test := range map[string]struct {
		hashes []getproviders.Hash
		asks   int
	}{
		"no lock":   {nil, 1},
		"h1 alone":  {h1[:1], 1},
		"all of it": {h1, 0},
	} {
		sources, server := m.sources(t)
		locks := &depsfile.Locks{}
		if test.hashes != nil {
			locks.Set(depsfile.Lock{Provider: widget, Version: version("1.0.0"), Hashes: test.hashes})
		}
		m.installed(t, sources["network"], server.Client(), locks)
		must.Equal(t, strings.Count(fmt.Sprint(server.Log()), "SHA256SUMS"), test.asks, name)
	}
}

func TestMirror_AsksForNoDocumentsThatItHas(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0", "gadget")
	asked := func() int { return m.registry.Requests("sums") + m.registry.Requests("signature") }
	before := asked()
	m.again(registrySource(m.registry)) // which remembers nothing
	m.fill("widget@1.0.0", "gadget")
	must.Equal(t, before, 4)
	must.Equal(t, asked(), before)
}

func TestMirror_OfOthersGetsDocuments(t *testing.T) {
	m := newMirroring(t)
	wanted := want("widget@1.0.0")
	must.Get(m.run(wanted...))(t)
	original := map[string]string{}
	for _, name := range documents("widget", "1.0.0") {
		original[name] = read(t, m.file(name))
		succeed(t, os.Remove(m.file(name)))
	}
	for _, locked := range []bool{false, true} {
		if locked {
			wanted[0].Hashes = lockOne(t, m.Installer, providercache.LockRequest{Requirements: require(widgetAddress, "1.0.0")}).Packages[0].Hashes
		}
		archives := m.registry.Requests("archive")
		must.Get(m.run(wanted...))(t)
		for name, content := range original {
			must.Equal(t, read(t, m.file(name)), content)
			succeed(t, os.Remove(m.file(name)))
		}
		must.Equal(t, m.registry.Requests("archive"), archives)
	}
	m.registry.Break("sums", providertest.Fault{Status: 404})
	m.again(registrySource(m.registry))
	must.Refuse(m.run(want("widget@1.0.0")...))(t)
	must.Equal(t, m.registry.Requests("archive"), 3) // the lock file takes the hashes of what the mirror has read
	m.registry.Break("package", providertest.Fault{Status: 404})
	must.Get(m.run(wanted...))(t)
}

func TestMirror_KeepsNoDocumentsThatAreNotTrueOfAll(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	rebuilt := m.file("widget/terraform-provider-widget_1.0.0_plan9_arm.zip")
	write(t, rebuilt, string(zipOf(t, map[string]string{"terraform-provider-widget": "rebuilt"})))
	m.fill("widget@1.0.0")
	must.NotContain(t, m.files(), "SHA256SUMS")
	succeed(t, os.Remove(rebuilt))
	m.fill("widget@1.0.0")
	must.Contain(t, m.files(), documents("widget", "1.0.0")[2])
	// A source without signatures has other bytes.
	source := newSource(t)
	source.AddZip(t, widgetAddress, "1.0.0")
	m.again(source)
	m.fill("widget@1.0.0")
	must.NotContain(t, m.files(), "SHA256SUMS")
}

func TestMirror_HasTheDocumentsOfARepublishedVersion(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = onLinux
	m.fill("widget@1.0.0")
	m.registry.Add(providertest.PackageSpec{
		Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: linux, Archive: zipOf(t, map[string]string{"terraform-provider-widget": "again"}),
	})
	m.again(registrySource(m.registry))
	m.fill("widget@1.0.0")
	sources, server := m.sources(t)
	for name, source := range sources {
		must.Contain(t, m.installed(t, source, server.Client(), nil), "self-signed", name)
	}
}

func TestMirror_OfAMirrorHasItsDocuments(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	sources, server := m.sources(t)
	for name, source := range sources {
		dir := filepath.Join(t.TempDir(), "copy")
		f := &providercache.Fetcher{Source: source, Client: server.Client(), Product: product}
		must.Get(mirror.Update(t.Context(), f, mirror.Directory(dir), want("widget@1.0.0"), m.opts))(t)
		for _, file := range documents("widget", "1.0.0") {
			must.Equal(t, read(t, filepath.Join(dir, registryHost, "acme", file)), read(t, m.file(file)), name)
		}
	}
}

func TestLocate_KnowsWhatMirrorsList(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	sources, server := m.sources(t)
	request := providercache.LockRequest{Requirements: require(widgetAddress, "1.0.0"), Platforms: onLinux}
	for name, source := range sources {
		p := installtest.First((&providercache.Fetcher{Source: source, Client: server.Client()}).Locate(t.Context(), request)).Packages[0]
		if p.ZH == "" || p.Authentication.TrustLevel != getproviders.LevelCommunity || p.Bytes > 0 != (name == "filesystem") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	unsigned := &getproviders.FilesystemMirrorSource{Dir: filepath.Clean(m.dir)}
	p := installtest.First((&providercache.Fetcher{Source: unsigned}).Locate(t.Context(), request)).Packages[0]
	archive := filepath.Join(unsigned.Dir, registryHost, "acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip")
	h1, zh, err := providercache.HashPackage(t.Context(), archive)
	succeed(t, err)
	must.Equal(t, p.ZH, zh)
	must.Equal(t, p.Authentication.TrustLevel, getproviders.LevelUnauthenticated)
	must.EqualSlices(t, p.Hashes, []getproviders.Hash{h1, zh})
}
