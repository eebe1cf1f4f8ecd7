// Package providertest has a registry of providers and modules, on loopback for tests of what you build on this module: it speaks real
// HTTPS with a throw-away CA, signs with a throw-away key, counts requests, and breaks on command.
//
//	func TestWidget(t *testing.T) {
//		registry := providertest.New(t)
//		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
//		installer := &providercache.Installer{
//			Fetcher: &providercache.Fetcher{Source: registry.Source(), Client: registry.Client()},
//			Target:  &providercache.Store{Dir: t.TempDir()},
//		}
//		got, err := installer.Ensure(t.Context(), registry.Provider("acme", "widget"), getproviders.Constraints{})
//		// got.Executable is there; registry.Requests("archive") is 1
//	}
//
// It does no more than a well-behaved registry has to: no login, no pagination.
package providertest

import (
	"net/http"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	fake "github.com/tfdeps/tfdeps/internal/providertest"
)

// Host is the host of the addresses that Provider returns.
const Host = fake.Host

// Registry is a running registry. It is safe for many goroutines.
type Registry struct{ registry *fake.Registry }

// New starts a registry, which is closed when the test ends. A *testing.T is what it takes.
func New(t interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}) *Registry {
	t.Helper()
	return &Registry{fake.New(t)}
}

// PackageSpec is one package to be served.
type PackageSpec struct {
	Namespace, Type string
	Version         string
	Platform        getproviders.Platform // zero: current
	Protocols       []string              // nil: "5.0"
	Archive         []byte                // made by Zip; nil: a small one that holds a file named as the provider's executable
}

// Add publishes a package, in place of one with the same address, version and platform if there is one.
func (r *Registry) Add(p PackageSpec) {
	r.registry.Add(fake.PackageSpec{
		Namespace: p.Namespace, Type: p.Type, Version: p.Version, Platform: p.Platform, Protocols: p.Protocols, Archive: p.Archive,
	})
}

// AddModule publishes a version of a module, which is where location says: a URL, or a path of AddArchive.
func (r *Registry) AddModule(namespace, name, system, version, location string) {
	r.registry.AddModule(fake.ModuleSpec{Namespace: namespace, Name: name, System: system, Version: version, Location: location})
}

// AddArchive serves bytes under a name, such as "net-1.0.0.zip", and returns the path where they are.
func (r *Registry) AddArchive(name string, content []byte) (path string) {
	return r.registry.AddArchive(name, content)
}

// Zip makes a deterministic archive of files (name to content); the mode of all is 0755. A name that ends in a slash is a directory.
func Zip(files map[string]string) []byte { return fake.Zip(files) }

// Provider is the address of a provider on [Host]. It panics if the address isn't valid.
func (r *Registry) Provider(namespace, providerType string) getproviders.Provider {
	return r.registry.Provider(namespace, providerType)
}

// Source is a new source of the registry's packages, which remembers nothing yet.
func (r *Registry) Source() *getproviders.RegistrySource { return r.registry.Source() }

// SigningKey is the key that signs all packages, ASCII-armored.
func (r *Registry) SigningKey() string { return r.registry.Signer().Armored() }

// Client returns an HTTP client that trusts the registry's CA and no other.
func (r *Registry) Client() *http.Client { return r.registry.Client() }

// Addr is "localhost:PORT", which may be the host of a provider, too.
func (r *Registry) Addr() string { return r.registry.Host() }

// Env writes into a directory, which has to exist, what makes a program such as terraform use this registry in place of hosts: it returns
// the environment variables that name it. Go reads that of the CA on neither macOS nor Windows.
func (r *Registry) Env(dir string, hosts ...string) ([]string, error) {
	return r.registry.Env(dir, hosts...)
}

// Requests returns how many requests of a kind there were: "discovery", "versions", "package", "sums", "signature", "archive",
// "module/versions", "module/download" or "module/archive"; "" counts all.
func (r *Registry) Requests(kind string) int { return r.registry.Requests(kind) }

// RequireToken makes the registry answer 401 to requests of these kinds unless they bear the token.
func (r *Registry) RequireToken(token string, kinds ...string) {
	r.registry.RequireToken(token, kinds...)
}

// Failure is how requests fail. The zero value answers as usual.
type Failure struct {
	Times    int                 // for the first Times requests only; 0: always
	Delay    time.Duration       // wait so long before answering
	Status   int                 // answer with this status instead
	Body     func([]byte) []byte // change what is sent
	CutAfter int64               // drop the connection after so many bytes of body (if > 0)
	Stall    bool                // send the header and CutAfter bytes, then nothing until the client gives up
}

// Break has requests of a kind, as Requests names them, fail from now on.
func (r *Registry) Break(kind string, f Failure) {
	r.registry.Break(kind, fake.Fault{Times: f.Times, Delay: f.Delay, Status: f.Status, Body: f.Body, CutAfter: f.CutAfter, Stall: f.Stall})
}
