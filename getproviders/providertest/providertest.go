// Package providertest has a registry of providers and modules on a loopback address, for tests of programs that use this module. It
// speaks HTTPS with a throw-away CA, signs with a throw-away key, counts requests, and fails on command.
//
//	func TestWidget(t *testing.T) {
//		registry := providertest.New(t)
//		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
//		installer := &providercache.Installer{
//			Fetcher: &providercache.Fetcher{Source: registry.Source(), Client: registry.Client()},
//			Target:  &providercache.Store{Dir: t.TempDir()},
//		}
//		got, err := installer.Ensure(t.Context(), registry.Provider("acme", "widget"), getproviders.Constraints{})
//		// got.Executable exists; registry.Requests("archive") is 1
//	}
//
// It is a minimal registry: no login, no pagination.
package providertest

import (
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	fake "github.com/tfdeps/tfdeps/internal/providertest"
)

// Host is the host of the addresses that Provider returns.
const Host = fake.Host

// Registry is a running registry. Many goroutines may use it.
type Registry struct{ registry *fake.Registry }

// New starts a registry, and closes it when the test ends. t is a *testing.T.
func New(t interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}) *Registry {
	t.Helper()
	return &Registry{fake.New(t)}
}

// PackageSpec is a package to serve.
type PackageSpec struct {
	Namespace, Type string
	Version         string
	Platform        getproviders.Platform // zero means the current platform
	Protocols       []string              // nil means "5.0"
	Archive         []byte                // of Zip; nil means a small one with a file named as the provider's executable
}

// Add publishes a package. It replaces a package with the same address, version and platform.
func (r *Registry) Add(p PackageSpec) {
	r.registry.Add(fake.PackageSpec{
		Namespace: p.Namespace, Type: p.Type, Version: p.Version, Platform: p.Platform, Protocols: p.Protocols, Archive: p.Archive,
	})
}

// AddModule publishes a version of a module at a location: a URL, or a path of AddArchive.
func (r *Registry) AddModule(namespace, name, system, version, location string) {
	r.registry.AddModule(fake.ModuleSpec{Namespace: namespace, Name: name, System: system, Version: version, Location: location})
}

// AddArchive serves content under a name, such as "net-1.0.0.zip", and returns its path.
func (r *Registry) AddArchive(name string, content []byte) (path string) {
	return r.registry.AddArchive(name, content)
}

// Zip returns a deterministic archive of files (name to content) with mode 0755. A name that ends in a slash is a directory.
func Zip(files map[string]string) []byte { return fake.Zip(files) }

// Provider returns the address of a provider on [Host]. It panics if the address is invalid.
func (r *Registry) Provider(namespace, providerType string) getproviders.Provider {
	return r.registry.Provider(namespace, providerType)
}

// Source returns a new source of the registry's packages with an empty cache.
func (r *Registry) Source() *getproviders.RegistrySource { return r.registry.Source() }

// SigningKey returns the key that signs all packages, ASCII-armored.
func (r *Registry) SigningKey() string { return r.registry.Signer().Armored() }

// Client returns an HTTP client that trusts the registry's CA and no other.
func (r *Registry) Client() *http.Client { return r.registry.Client() }

// Addr returns "localhost:PORT", which may be the host of a provider, too.
func (r *Registry) Addr() string { return r.registry.Host() }

// Env writes files into dir, which must exist, and returns environment variables that make a program such as terraform use this registry
// in place of hosts. On macOS and Windows, Go ignores the variable of the CA.
func (r *Registry) Env(dir string, hosts ...string) ([]string, error) {
	return r.registry.Env(dir, hosts...)
}

// Requests returns how many requests of a kind there were: "discovery", "versions", "package", "sums", "signature", "archive",
// "module/versions", "module/download" or "module/archive"; "" counts all.
func (r *Registry) Requests(kind string) int { return r.registry.Requests(kind) }

// RequireToken makes the registry answer 401 to requests of these kinds, as in Requests, without the token. Without a kind, or with "",
// it requires none.
func (r *Registry) RequireToken(token string, kinds ...string) {
	r.registry.RequireToken(token, kinds...)
}

// Failure says how requests fail. The zero value answers as usual.
type Failure struct {
	Times    int                 // for the first Times requests only; 0 means always
	Delay    time.Duration       // wait this long before answering
	Status   int                 // answer with this status
	Body     func([]byte) []byte // change the body
	CutAfter int64               // drop the connection after this many bytes of the body (if > 0)
	Stall    bool                // send the header and CutAfter bytes, then nothing until the client closes the connection
}

// Break makes requests of a kind, as in Requests, fail from now on.
func (r *Registry) Break(kind string, f Failure) {
	r.registry.Break(kind, fake.Fault{Times: f.Times, Delay: f.Delay, Status: f.Status, Body: f.Body, CutAfter: f.CutAfter, Stall: f.Stall})
}
