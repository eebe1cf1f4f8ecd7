package mirrorserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// asRegistry is a source that takes a server for the registry of its providers.
func asRegistry(url string, client *http.Client) *getproviders.RegistrySource {
	services := map[string]string{"providers.v1": url + host}
	return &getproviders.RegistrySource{
		Client: client, Discovery: &hosts.Discovery{Client: client, Forced: map[hosts.Hostname]map[string]string{providertest.Host: services}}, VersionsMaxAge: time.Nanosecond,
	}
}

// TestHandler_IsARegistry has a package verified through a server as it is by the registry, with tokens on, while both are there, and from what
// the server knows.
func TestHandler_IsARegistry(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	m.opts.Allow = func(r *http.Request) bool {
		return strings.HasSuffix(r.URL.Path, "/versions") || strings.Contains(r.URL.Path, "/download/")
	}
	m.opts.SigningKey = []byte("0123456789abcdef")
	p, v := m.registry.Provider("acme", "widget"), getproviders.MustParseVersion("1.0.0")
	install := func(source getproviders.Source, client *http.Client) (getproviders.AuthenticationResult, []getproviders.Hash) {
		t.Helper()
		available, err := source.Versions(t.Context(), p)
		if err != nil || !slices.Equal(available.Versions, []getproviders.Version{v}) {
			t.Fatalf("%v, %v", available, err)
		}
		pkg, err := source.Package(t.Context(), p, v, linux)
		if err != nil {
			t.Fatal(err)
		}
		request := fetcher.Request{Package: pkg}
		request.Provider, request.Version = p, v
		got, err := (&fetcher.Fetcher{Source: source, Client: client}).HashPackage(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return got.Authentication, []getproviders.Hash{got.H1, got.ZH}
	}
	direct, hashes := install(m.source(), m.registry.Client())
	server, front := m.serve(t, m.source())
	check := func() {
		t.Helper()
		through, same := install(asRegistry(front.URL, front.Client()), front.Client())
		if through.TrustLevel != direct.TrustLevel || through.KeyID != direct.KeyID || !slices.Equal(through.Signed, direct.Signed) || !slices.Equal(same, hashes) {
			t.Errorf("through the server %+v %v, directly %+v %v", through, same, direct, hashes)
		}
	}
	check()
	settle(t, server)
	for _, kind := range []string{"discovery", "versions", "package", "sums", "signature", "archive"} {
		m.registry.Break(kind, providertest.Fault{Status: http.StatusServiceUnavailable})
	}
	m.clock.pass(48 * time.Hour)
	check()
	status(t, front, dir+"1.0.0/download/plan9/amd64", http.StatusNotFound)
	for _, path := range []string{dir + "1.0/download/linux/amd64", dir + "1.0.0/download/Linux/amd64", dir + "1.0.0/upload/linux/amd64"} {
		if got := get(t, front, http.MethodGet, path); got.StatusCode != http.StatusNotFound && got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
}

// TestHandler_RegistryNeedsSignatures: what nothing is signed about can be had from a mirror, and from no registry.
func TestHandler_RegistryNeedsSignatures(t *testing.T) {
	t.Parallel()
	m := newMirroring(t)
	_, front := m.serve(t, &getproviders.FilesystemMirrorSource{Dir: writeMirror(t)})
	status(t, front, dir+"1.0.0.json", http.StatusOK)
	if got := status(t, front, dir+"1.0.0/download/linux/amd64", http.StatusNotImplemented); !strings.Contains(string(got.body), "network_mirror") {
		t.Errorf("%s", got.body)
	}
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
	t.Parallel()
	m := newMirroring(t)
	root := t.TempDir()
	m.bucket = blob.NewDirectory(root)
	source := &moduleSource{}
	const module = host + "acme/net_2/aws/"
	_, without := m.serve(t, m.source())
	status(t, without, module+"versions", http.StatusNotFound)
	m.opts.Modules = source
	_, front := m.serve(t, m.source())
	ask := func() (versions []byte, location string) {
		t.Helper()
		got := status(t, front, module+"1.0.0/download", http.StatusNoContent)
		return status(t, front, module+"versions", http.StatusOK).body, got.Header.Get("X-Terraform-Get")
	}
	versions, location := ask()
	if !bytes.Contains(versions, []byte(`"version": "2.0.0-beta.1"`)) || location != "https://example.com/net_2/1.0.0.tgz?token=x&asked=1" {
		t.Errorf("%q, %s", location, versions)
	}
	for name, secret := range map[string]bool{"1.0.0/location.json": true, "versions.json": false} {
		info, err := os.Stat(filepath.Join(root, "modules", filepath.FromSlash(module), filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
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
	if !bytes.Equal(again, versions) || last != location {
		t.Errorf("while the registry is down: %q, %s", last, again)
	}
	m.clock.pass(time.Minute)
	if got := get(t, front, http.MethodGet, module+"1.0.0/download"); got.StatusCode < 500 || got.Header.Get("X-Terraform-Get") != "" {
		t.Errorf("a location of more than an hour ago: %s, %v", got.Status, got.Header)
	}
	if got := status(t, front, module+"versions", http.StatusOK); !bytes.Equal(got.body, versions) {
		t.Errorf("versions while the registry is down: %q", got.body)
	}
	asked := source.asked
	for _, path := range []string{host + "acme/none/aws/versions", host + "-a/b/c/versions", host + "a/b/../versions", module + "v1/download", module + "1%2f0/download"} {
		status(t, front, path, http.StatusNotFound)
	}
	if source.asked != asked+1 {
		t.Errorf("asked %d times, want once", source.asked-asked)
	}
}
