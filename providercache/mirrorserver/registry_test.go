package mirrorserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// asRegistry is a source that uses a server as the registry of its providers.
func asRegistry(url string, client *http.Client) *getproviders.RegistrySource {
	services := map[string]string{"providers.v1": url + host}
	return &getproviders.RegistrySource{
		Client: client, Discovery: &hosts.Discovery{Client: client, Forced: map[hosts.Hostname]map[string]string{providertest.Host: services}}, VersionsMaxAge: time.Nanosecond,
	}
}

// TestHandler_IsARegistry has a package verified through a server as it is by the registry, with tokens on, while both
// are there, and from what the server knows.
func TestHandler_IsARegistry(t *testing.T) {
	m := newMirroring(t)
	m.opts.Allow = only(func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/versions") || strings.Contains(r.URL.Path, "/download/")
	})
	m.opts.SigningKey = []byte("0123456789abcdef")
	p, v := m.registry.Provider("acme", "widget"), getproviders.MustParseVersion("1.0.0")
	late := time.Duration(0) // between the description of the package and the request for its archive
	install := func(source getproviders.Source, client *http.Client) (getproviders.AuthenticationResult, []getproviders.Hash) {
		t.Helper()
		available, err := source.Versions(t.Context(), p)
		if err != nil || !slices.Equal(available.Versions, []getproviders.Version{v}) {
			t.Fatalf("%v, %v", available, err)
		}
		pkg := must.Get(source.Package(t.Context(), p, v, linux))(t)
		m.clock.pass(late)
		request := fetch.Request{Package: pkg, Selection: getproviders.Selection{Provider: p, Version: v}}
		got := must.Get((&providercache.Fetcher{Source: source, Client: client}).Opened().HashPackage(t.Context(), request))(t)
		return got.Authentication, []getproviders.Hash{got.H1, got.ZH}
	}
	direct, hashes := install(m.source(), m.registry.Client())
	server := m.start()
	check := func() {
		t.Helper()
		through, same := install(asRegistry(server.front.URL, server.front.Client()), server.front.Client())
		must.Equal(t, through.TrustLevel, direct.TrustLevel)
		must.Equal(t, through.KeyID, direct.KeyID)
		must.EqualSlices(t, through.Signed, direct.Signed)
		must.EqualSlices(t, same, hashes)
	}
	check()
	for _, plat := range []getproviders.Platform{linux, darwin} { // their archives have the same bytes
		m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "alike", Version: "1.0.0", Platform: plat, Archive: []byte("x")})
	}
	for _, plat := range []string{"linux/amd64", "darwin/arm64"} {
		must.Contain(t, string(server.found(host+"acme/alike/1.0.0/download/"+plat).body), `_`+strings.ReplaceAll(plat, "/", "_")+`.zip",`)
	}
	server.settle()
	late = time.Hour // the signed URL has expired, and the client asks for another one
	check()
	late = 0
	for _, kind := range []string{"discovery", "versions", "package", "sums", "signature", "archive"} {
		m.registry.Break(kind, providertest.Fault{Status: http.StatusServiceUnavailable})
	}
	m.clock.pass(48 * time.Hour)
	check()
	server.status(dir+"1.0.0/download/plan9/amd64", http.StatusNotFound)
	for _, path := range []string{dir + "1.0/download/linux/amd64", dir + "1.0.0/download/Linux/amd64", dir + "1.0.0/upload/linux/amd64"} {
		if got := server.get(path); got.StatusCode != http.StatusNotFound && got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
}

// TestHandler_ListsWhatTheRegistryTells: the list of versions has the protocols and platforms of the registry's own,
// and costs one request.
func TestHandler_ListsWhatTheRegistryTells(t *testing.T) {
	m := newMirroring(t)
	m.add("widget", "2.0.0")
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "3.0.0", Platform: darwin, Protocols: []string{"5.0", "6.0"}})
	old := getproviders.MustParseVersion("0.1.0")
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: old.String(), Platform: linux, Protocols: []string{"4.0"}})
	server := m.serve(getproviders.Memoize(getproviders.MultiSource{Selectors: []getproviders.Selector{{Source: m.source()}}}))
	resp := must.Get(m.registry.Client().Get(m.registry.ServiceURL() + "acme/widget/versions"))(t)
	defer resp.Body.Close()
	own := must.Get(io.ReadAll(resp.Body))(t)
	want := listOf(t, own)
	for range 2 {
		got := listOf(t, server.found(dir+"versions").body)
		must.EqualSlices(t, got, want)
		must.Len(t, got, 4)
	}
	if n := m.registry.Requests("versions"); n != 2 { // one is the test's
		t.Errorf("the registry was asked %d times", n)
	}
	p := m.registry.Provider("acme", "widget")
	_, direct := m.source().Package(t.Context(), p, old, linux)
	_, through := asRegistry(server.front.URL, server.front.Client()).Package(t.Context(), p, old, linux)
	if failed := getproviders.FaultOf(through, getproviders.ErrProtocol); failed == nil || !strings.HasPrefix(failed.Hint, "version 2.0.0 ") && !strings.HasPrefix(failed.Hint, "version 3.0.0 ") || through.Error() != direct.Error() {
		t.Errorf("through the server: %v\ndirectly: %v", through, direct)
	}
	_, through = asRegistry(server.front.URL, server.front.Client()).Package(t.Context(), p, getproviders.MustParseVersion("3.0.0"), linux)
	if failed := getproviders.FaultOf(through, getproviders.ErrPlatformMissing); failed == nil || !slices.Equal(failed.Platforms, []getproviders.Platform{darwin}) || failed.Newest.String() != "2.0.0" {
		t.Errorf("%+v", through)
	}
	server.status(dir+"0.1.0.json", http.StatusNotImplemented)
}

// TestHandler_KeepsNoOddDetails: if a registry lists too many details
// of versions, the server lists the versions without them.
func TestHandler_KeepsNoOddDetails(t *testing.T) {
	m := newMirroring(t)
	for i := range 300 { // each with protocols of its own
		m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "many", Version: fmt.Sprintf("1.%d.0", i), Protocols: []string{"5.0", fmt.Sprintf("5.%d", i+1)}, Archive: []byte("x")})
	}
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "long", Version: "1.0.0", Protocols: []string{strings.Repeat("5", 1000)}})
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "wide", Version: "1.0.0", Platform: getproviders.Platform{OS: strings.Repeat("x", 1000), Arch: "y"}})
	m.registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "much", Version: "1.0.0", Protocols: slices.Repeat([]string{"5.0"}, 1000)})
	server := m.start()
	for name, want := range map[string]int{"many": 100, "long": 0, "wide": 0, "much": 0} {
		list := server.found(host + "acme/" + name + "/versions").body
		if got := bytes.Count(list, []byte(`"protocols"`)); got != want || len(listOf(t, list)) == 0 {
			t.Errorf("%s: details of %d versions, want %d: %.300s", name, got, want, list)
		}
	}
}

// listOf returns what a registry's list tells about each version, sorted.
func listOf(t *testing.T, document []byte) (all []string) {
	t.Helper()
	var list struct {
		Versions []struct {
			Version   string
			Protocols []string
			Platforms []struct{ OS, Arch string }
		}
	}
	must.Succeed(t, json.Unmarshal(document, &list))
	for _, v := range list.Versions {
		slices.SortFunc(v.Platforms, func(a, b struct{ OS, Arch string }) int { return strings.Compare(a.OS+a.Arch, b.OS+b.Arch) })
		all = append(all, fmt.Sprint(v))
	}
	slices.Sort(all)
	return all
}

// TestHandler_RegistryNeedsSignatures: packages without signed documents are
// served by the mirror protocol, but not by the registry protocol.
func TestHandler_RegistryNeedsSignatures(t *testing.T) {
	m := newMirroring(t)
	server := m.serve(&getproviders.FilesystemMirrorSource{Dir: writeMirror(t)})
	server.found(dir + "1.0.0.json")
	must.Contain(t, string(server.status(dir+"1.0.0/download/linux/amd64", http.StatusNotImplemented).body), "network_mirror")
}

// moduleSource is a registry of modules.
type moduleSource struct {
	asked int
	err   error
}

func (s *moduleSource) ModuleVersions(_ context.Context, m mirrorserver.Module) ([]string, error) {
	s.asked++
	if m.Name == "none" {
		return nil, getproviders.ErrNotFound
	}
	return []string{"1.0.0", "2.0.0-beta.1"}, s.err
}

func (s *moduleSource) ModuleLocation(_ context.Context, m mirrorserver.Module, version string) (string, error) {
	s.asked++
	return fmt.Sprintf("https://example.com/%s/%s.tgz?token=x&asked=%d", m.Name, version, s.asked), s.err
}

func TestHandler_IsARegistryOfModules(t *testing.T) {
	m := newMirroring(t)
	root := t.TempDir()
	m.bucket = blob.NewDirectory(root)
	source := &moduleSource{}
	const module = host + "acme/net_2/aws/"
	without := m.start()
	without.status(module+"versions", http.StatusNotFound)
	m.opts.Modules = source
	server := m.start()
	ask := func() (versions []byte, location string) {
		t.Helper()
		got := server.status(module+"1.0.0/download", http.StatusNoContent)
		return server.found(module + "versions").body, got.Header.Get("X-Terraform-Get")
	}
	versions, location := ask()
	if !bytes.Contains(versions, []byte(`"version": "2.0.0-beta.1"`)) || location != "https://example.com/net_2/1.0.0.tgz?token=x&asked=1" {
		t.Errorf("%q, %s", location, versions)
	}
	for name, secret := range map[string]bool{"1.0.0/location.json": true, "versions.json": false} {
		info := must.Get(os.Stat(filepath.Join(root, "modules", module, name)))(t)
		if runtime.GOOS != "windows" && (info.Mode().Perm()&0o077 == 0) != secret {
			t.Errorf("%s has the mode %v: its URL may be signed", name, info.Mode())
		}
	}
	m.clock.pass(2 * time.Minute)
	if _, location = ask(); !strings.HasSuffix(location, "asked=3") {
		t.Errorf("a location isn't asked for again in time: %s", location)
	}
	source.err = errors.New("down")
	m.clock.pass(time.Hour)
	again, last := ask()
	must.EqualSlices(t, again, versions)
	must.Equal(t, last, location)
	m.clock.pass(time.Minute)
	if got := server.get(module + "1.0.0/download"); got.StatusCode < 500 || got.Header.Get("X-Terraform-Get") != "" {
		t.Errorf("a location of more than an hour ago: %s, %v", got.Status, got.Header)
	}
	must.EqualSlices(t, server.found(module+"versions").body, versions)
	asked := source.asked
	for _, path := range []string{host + "acme/none/aws/versions", host + "-a/b/c/versions", host + "a/b/../versions", module + "v1/download", module + "1%2f0/download"} {
		server.status(path, http.StatusNotFound)
	}
	must.Equal(t, source.asked, asked+1)
}

// TestHandler_ServesModulesThatAreIncluded: the patterns hold for modules, whatever letters a request has.
func TestHandler_ServesModulesThatAreIncluded(t *testing.T) {
	m := newMirroring(t)
	source := &moduleSource{}
	m.opts.Modules = source
	m.opts.Include = []getproviders.Pattern{{Hostname: providertest.Host, Namespace: "acme", Type: "*"}}
	m.opts.Exclude = []getproviders.Pattern{{Hostname: providertest.Host, Namespace: "acme", Type: "secret"}}
	server := m.serve(m.source())
	for path, want := range map[string]int{
		host + "acme/net/aws/versions": http.StatusOK, host + "Acme/net/aws/versions": http.StatusOK,
		host + "acme/secret/aws/versions": http.StatusNotFound, host + "ACME/Secret/aws/versions": http.StatusNotFound, host + "other/net/aws/versions": http.StatusNotFound,
		"/elsewhere.example.com/acme/net/aws/versions": http.StatusNotFound,
		host + "acme/net/aws/1.0.0/download":           http.StatusNoContent, host + "acme/secret/aws/1.0.0/download": http.StatusNotFound, host + "other/net/aws/1.0.0/download": http.StatusNotFound,
	} {
		server.status(path, want)
	}
	if runtime.GOOS != "windows" { // where acme and Acme are one name in a bucket that is a directory
		must.Equal(t, source.asked, 3)
	}
}
