// Package providertest has a registry of providers and modules, and a network mirror, on loopback
// for tests: they serve real HTTPS with a temporary CA, sign with a temporary key, count requests,
// and fail on demand. Other modules use its public part, getproviders/providertest.
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
// Add and AddModule fill a registry. Clients reach it by its own host, "localhost:PORT", by [Host]
// through Source, or by any other host that a host block of a CLI configuration redirects to
// ServiceURL and ModulesURL: Env prepares that for programs. Break lets requests fail, and
// PackageSpec can make packages invalid.
//
// A mirror is filled in the same way, and reached by its URL. Both are Servers, which can serve
// anything else, too, such as the target of a redirect. Servers that share a CA may have each
// other's URLs in their documents.
//
// It is for tests of any package and for programs under test, so it doesn't import testing. It does
// only what a well-behaved registry must do: no login, no pagination.
package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Host is the host of Provider's addresses. It has no port, which couldn't be in the name of a
// directory on Windows.
const Host = hosts.Hostname("registry.example.com")

// TB has the methods of a *testing.T, a *testing.B or a *testing.F that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// New starts a registry with the zero Options, and closes it when the test ends.
func New(t TB) *Registry {
	t.Helper()
	registry, err := NewRegistry(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(registry.Close)
	return registry
}

// Registry is a running registry. Many goroutines may use it.
type Registry struct {
	*Server
	opts Options
	catalogue
	modules   modules
	signature atomic.Int64 // in the URLs of archives; 0 means none
}

// Options configures NewRegistry; the zero value works.
type Options struct {
	CA     *CA     // nil means a new one
	Signer *Signer // nil means a new one
	// EditSums changes a SHA256SUMS document before it is signed, for invalid lists with a valid
	// signature; nil means no change.
	EditSums func(sums []byte) []byte
	// ListHashes lists the hashes of all packages of a version in each package document, as
	// registries for OpenTofu do: PackageSpec.Hashes.
	ListHashes bool
}

// NewRegistry starts a registry on a free port of 127.0.0.1. Close stops it.
func NewRegistry(opts Options) (*Registry, error) {
	if opts.Signer == nil {
		opts.Signer = NewSigner(SignerOptions{})
	}
	server, err := newServer(ServerOptions{CA: opts.CA})
	if err != nil {
		return nil, err
	}
	r := &Registry{Server: server, opts: opts}
	r.start(r.handler())
	return r, nil
}

// Add publishes a package, and replaces one with the same address, version and platform. It panics
// if ArchivePath can't be read.
func (r *Registry) Add(p PackageSpec) { r.add("", p) }

// Provider returns the address of a provider on [Host]. It panics if the address is invalid.
func (r *Registry) Provider(namespace, providerType string) getproviders.Provider {
	p := getproviders.Provider{Hostname: Host, Namespace: namespace, Type: providerType}
	must(p.Validate())
	return p
}

// Source returns a new source of the registry's packages, with an empty cache. It finds the
// registry by [Host] and by the registry's own host.
func (r *Registry) Source() *getproviders.RegistrySource {
	discovery := &hosts.Discovery{Client: r.Client(), Forced: map[hosts.Hostname]map[string]string{
		Host: {"providers.v1": r.ServiceURL()},
	}}
	return &getproviders.RegistrySource{Client: r.Client(), Discovery: discovery}
}

// ServiceURL returns the base URL of providers.v1, for host blocks.
func (r *Registry) ServiceURL() string { return r.BaseURL() + servicePath }

// Signer returns the signer of packages without their own.
func (r *Registry) Signer() *Signer { return r.opts.Signer }

// RenewURLs gives the URLs of archives a new signature parameter. Requests for archives by earlier
// URLs then get a 403.
func (r *Registry) RenewURLs() { r.signature.Add(1) }

func (r *Registry) handler() http.Handler {
	mux := http.NewServeMux()
	r.handle(mux, "discovery", "/.well-known/terraform.json", func(*http.Request) answer {
		return document(typeJSON, discoveryDocument())
	})
	r.handle(mux, "versions", servicePath+"{namespace}/{type}/versions", r.versions)
	r.handle(mux, "package", servicePath+"{namespace}/{type}/{version}/download/{os}/{arch}", r.describe)
	mux.HandleFunc(filesPath+"{namespace}/{type}/{version}/{file}", func(w http.ResponseWriter, req *http.Request) {
		r.answer(w, req, fileKind(req.PathValue("file")), r.file)
	})
	r.handleModules(mux)
	r.handle(mux, "other", "/", nothing)
	return mux
}

func fileKind(name string) string {
	switch {
	case strings.HasSuffix(name, "_SHA256SUMS"):
		return "sums"
	case strings.HasSuffix(name, "_SHA256SUMS.sig"):
		return "signature"
	default:
		return "archive"
	}
}

func (r *Registry) versions(req *http.Request) answer {
	packages := r.provider("", req.PathValue("namespace"), req.PathValue("type"))
	if len(packages) == 0 {
		return answer{}
	}
	return document(typeJSON, versionsDocument(packages))
}

func (r *Registry) describe(req *http.Request) answer {
	packages := r.versionOf(req)
	for _, p := range packages {
		if p.Platform.OS == req.PathValue("os") && p.Platform.Arch == req.PathValue("arch") {
			return document(typeJSON, r.packageDocument(p, packages))
		}
	}
	return answer{}
}

func (r *Registry) file(req *http.Request) answer {
	packages := r.versionOf(req)
	name := req.PathValue("file")
	for _, p := range packages {
		switch name {
		case p.sumsName():
			return document(typeText, r.sumsDocument(packages))
		case p.sumsName() + ".sig":
			return document(typeBinary, r.signerOf(packages).Sign(r.sumsDocument(packages)))
		case p.archiveName():
			if signature := r.signature.Load(); signature != 0 && req.URL.Query().Get("signature") != strconv.FormatInt(signature, 10) {
				return answer{status: http.StatusForbidden}
			}
			return archiveAnswer(p)
		}
	}
	return answer{}
}

func (r *Registry) versionOf(req *http.Request) []servedPackage {
	return r.version("", req.PathValue("namespace"), req.PathValue("type"), req.PathValue("version"))
}

func archiveAnswer(p servedPackage) answer {
	archive, done, err := p.open()
	if err != nil {
		return answer{}
	}
	return answer{contentType: typeZip, etag: fmt.Sprintf(`"%x"`, p.sha256), body: archive, done: done}
}

const (
	servicePath = "/v1/providers/"
	filesPath   = "/files/"
)

// discoveryDocument has relative URLs of the services, as most hosts have.
func discoveryDocument() []byte {
	return toJSON(map[string]any{"modules.v1": modulesPath, "providers.v1": servicePath})
}

type versionEntry struct {
	Version   string          `json:"version"`
	Protocols []string        `json:"protocols"`
	Platforms []platformEntry `json:"platforms"`
}

type platformEntry struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

func versionsDocument(packages []servedPackage) []byte {
	var versions []*versionEntry
	var warnings []string
	for _, p := range packages {
		i := slices.IndexFunc(versions, func(v *versionEntry) bool { return v.Version == p.Version })
		if i < 0 {
			i = len(versions)
			versions = append(versions, &versionEntry{Version: p.Version, Protocols: p.Protocols})
		}
		versions[i].Platforms = append(versions[i].Platforms, platformEntry(p.Platform))
		for _, w := range p.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	return toJSON(map[string]any{"versions": versions, "warnings": warnings})
}

// packageDocument describes p, one of the packages of a version. Its URLs are
// relative to the document's own.
func (r *Registry) packageDocument(p servedPackage, all []servedPackage) []byte {
	signer := r.signerOf(all)
	keys := p.Keys
	if keys == nil {
		keys = []Key{signer.Key()}
	}
	base := filesPath + strings.Join([]string{p.Namespace, p.Type, p.Version}, "/") + "/"
	signed := ""
	if signature := r.signature.Load(); signature != 0 {
		signed = "?signature=" + strconv.FormatInt(signature, 10)
	}
	document := map[string]any{
		"protocols":             p.Protocols,
		"os":                    p.Platform.OS,
		"arch":                  p.Platform.Arch,
		"filename":              p.archiveName(),
		"download_url":          base + p.archiveName() + signed,
		"shasums_url":           base + p.sumsName(),
		"shasums_signature_url": base + p.sumsName() + ".sig",
		"shasum":                fmt.Sprintf("%x", p.sha256),
		"signing_keys":          map[string]any{"gpg_public_keys": keys},
	}
	if r.opts.ListHashes {
		document["packages"] = listedPackages(all)
	}
	return toJSON(document)
}

// listedPackages returns the hashes of a version's packages, as registries for OpenTofu list them.
func listedPackages(all []servedPackage) map[string]any {
	listed := map[string]any{}
	for _, p := range all {
		listed[p.Platform.OS+"_"+p.Platform.Arch] = map[string]any{"hashes": p.listedHashes(), "package_size": len(p.Archive)}
	}
	return listed
}

// sumsDocument lists the archives of one version for all platforms, in the format of sha256sum.
func (r *Registry) sumsDocument(packages []servedPackage) []byte {
	var lines []string
	for _, p := range packages {
		lines = append(lines, fmt.Sprintf("%x  %s\n", p.sha256, p.archiveName()))
	}
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[64:], b[64:]) // by name: the hash is 64 digits
	})
	sums := []byte(strings.Join(lines, ""))
	if r.opts.EditSums != nil {
		sums = r.opts.EditSums(sums)
	}
	return sums
}

// signerOf returns the signer of the checksum list of one version's packages.
func (r *Registry) signerOf(packages []servedPackage) *Signer {
	signer := r.opts.Signer
	for _, p := range packages {
		if p.Signer != nil {
			signer = p.Signer
		}
	}
	return signer
}

func toJSON(value any) []byte {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("providertest: %s", err)) // all values are strings
	}
	return text
}
