// Package providertest has a registry of providers and modules and a network
// mirror on loopback for tests: they speak real HTTPS with a throw-away CA, sign
// with a throw-away key, count requests, and break on command.
//
// A registry is filled with Add and AddModule, and asked by its own host,
// "localhost:PORT", or by any other host that a host block of the CLI
// configuration redirects to ServiceURL and ModulesURL:
//
//	registry, err := providertest.NewRegistry(providertest.Options{})
//	...
//	defer registry.Close()
//	registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0"})
//	env, err := registry.Env(dir, "example.com") // for a real terraform
//
// A mirror is filled alike, and asked below its URL. Both are Servers, which
// serve anything else, too: a place to redirect to, say. Servers that share a CA
// may name each other in their documents.
//
// It is meant for tests of any package and for programs under test, so it
// doesn't import testing. It does no more than a well-behaved registry has to:
// no login, no pagination.
package providertest

// Registry is a running registry. It is safe for many goroutines.
type Registry struct {
	*Server
	opts Options
	catalogue
	modules modules
}

// Options configures NewRegistry; the zero value works.
type Options struct {
	CA     *CA     // nil: a new one
	Signer *Signer // nil: a new one
	// EditSums changes a SHA256SUMS document before it is signed, for lists
	// that are odd but genuine; nil leaves it alone.
	EditSums func(sums []byte) []byte
	// ListHashes has each description of a package list the hashes of all
	// packages of the version, as registries for OpenTofu do: PackageSpec.Hashes.
	ListHashes bool
}

// NewRegistry starts a registry on a free port of 127.0.0.1. Close stops it.
func NewRegistry(opts Options) (*Registry, error) {
	if opts.Signer == nil {
		signer, err := NewSigner(SignerOptions{})
		if err != nil {
			return nil, err
		}
		opts.Signer = signer
	}
	server, err := newServer(ServerOptions{CA: opts.CA})
	if err != nil {
		return nil, err
	}
	r := &Registry{Server: server, opts: opts}
	r.start(r.handler())
	return r, nil
}

// Add publishes a package, in place of one with the same address, version and
// platform if there is one. It panics if ArchivePath can't be read.
func (r *Registry) Add(p PackageSpec) { r.add("", p) }

// ServiceURL is the base URL of providers.v1, for host blocks.
func (r *Registry) ServiceURL() string { return r.BaseURL() + servicePath }

// Signer is who signs the checksum lists of packages that name no other.
func (r *Registry) Signer() *Signer { return r.opts.Signer }
