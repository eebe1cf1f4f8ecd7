package getproviders

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
)

// registryService is the name of the provider registry protocol in service discovery.
const registryService = "providers.v1"

// wireVersions is the answer to ":namespace/:type/versions".
type wireVersions struct {
	Versions []*struct {
		Version   string         `json:"version"`
		Protocols []string       `json:"protocols"`
		Platforms []wirePlatform `json:"platforms"`
	} `json:"versions"`
	Warnings []string `json:"warnings"`
}

type wirePlatform struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// decodeVersions reads the answer to ":namespace/:type/versions". It skips entries that aren't
// versions, so that one odd release doesn't hide the others. Of equal versions the last one counts.
func decodeVersions(body []byte) (Available, error) {
	wire, err := decodeObject[wireVersions](body)
	if err != nil {
		return Available{}, err
	}
	list := Available{Warnings: firstWarnings(wire.Warnings), Details: make(map[Version]Listed, len(wire.Versions))}
	for i, entry := range wire.Versions {
		if entry == nil {
			return Available{}, fmt.Errorf("versions[%d] is null", i)
		}
		v, err := ParseVersion(entry.Version)
		if err != nil {
			continue
		}
		if _, again := list.Details[v]; !again {
			list.Versions = append(list.Versions, v)
		}
		list.Details[v] = Listed{entry.Protocols, decodePlatforms(entry.Platforms), true}
	}
	return list, nil
}

// Limits of a registry's warnings, which are printed.
const (
	maxWarnings     = 20
	maxWarningBytes = 2000
)

func firstWarnings(all []string) []string {
	first := all[:min(len(all), maxWarnings)]
	for i, text := range first {
		if len(text) > maxWarningBytes {
			first[i] = strings.ToValidUTF8(text[:maxWarningBytes], "") + "..."
		}
	}
	if rest := len(all) - len(first); rest > 0 {
		first = append(first[:len(first):len(first)], fmt.Sprintf("and %d more warnings", rest))
	}
	return first
}

// decodePlatforms skips entries that aren't platforms, because platforms only serve as hints.
func decodePlatforms(wire []wirePlatform) []Platform {
	platforms := make([]Platform, 0, len(wire))
	for _, w := range wire {
		if p, err := ParsePlatform(w.OS + "_" + w.Arch); err == nil {
			platforms = append(platforms, p)
		}
	}
	return sortPlatforms(platforms)
}

// decodeAlias reads the answer to "-/:type/versions", the look-up of a provider by its type alone,
// and returns the namespace and type that it found.
func decodeAlias(body []byte) (namespace, typ string, err error) {
	wire, err := decodeObject[struct {
		ID      string `json:"id"`       // "namespace/type"
		MovedTo string `json:"moved_to"` // the same form; "" or null if it hasn't moved
	}](body)
	if err != nil {
		return "", "", err
	}
	namespace, typ, ok := strings.Cut(cmp.Or(wire.MovedTo, wire.ID), "/")
	if !ok {
		return "", "", errors.New("id is not of the form namespace/type")
	}
	if namespace, err = NormalizePart(namespace); err != nil {
		return "", "", err
	}
	typ, err = NormalizePart(typ)
	return namespace, typ, err
}

// decodeObject reads a body that must be one JSON object.
func decodeObject[T any](body []byte) (*T, error) {
	var object *T
	err := json.Unmarshal(body, &object)
	if err != nil {
		return nil, hosts.PlainJSON(err)
	}
	if object == nil {
		return nil, errors.New("it is null, not an object")
	}
	return object, nil
}

// wirePackage is the answer to ":namespace/:type/:version/download/:os/:arch".
type wirePackage struct {
	Protocols    []string `json:"protocols"`
	OS           string   `json:"os"`
	Arch         string   `json:"arch"`
	FileName     string   `json:"filename"`
	DownloadURL  string   `json:"download_url"`
	SHA256       string   `json:"shasum"`
	SumsURL      string   `json:"shasums_url"`
	SignatureURL string   `json:"shasums_signature_url"`
	SigningKeys  struct {
		GPG []*wireKey `json:"gpg_public_keys"`
	} `json:"signing_keys"`
	Packages json.RawMessage `json:"packages"` // decoded by packageHashes
}

// wireKey is a PublicKey as registries and mirrors write it.
type wireKey struct {
	Armored        string `json:"ascii_armor"`
	TrustSignature string `json:"trust_signature"`
}

// packageAnswer is a checked wirePackage.
type packageAnswer struct {
	said                     signedChecksums // without the documents and the fields that other sources decide
	archive, sums, signature *url.URL
}

// read checks the answer about a package for plat from the URL base.
func (w *wirePackage) read(plat Platform, base *url.URL) (*packageAnswer, error) {
	if w.OS != plat.OS || w.Arch != plat.Arch {
		return nil, fmt.Errorf("it is about the package for %q, not for %s", w.OS+"_"+w.Arch, plat)
	}
	if w.FileName == "" {
		return nil, errors.New("filename is missing")
	}
	sum, ok := Hash(hashing.ZH + ":" + w.SHA256).SHA256()
	if !ok {
		return nil, errors.New("shasum is not 64 hexadecimal digits")
	}
	answer := &packageAnswer{said: signedChecksums{FileName: w.FileName, SHA256: sum, Platform: plat, PackageHashes: w.packageHashes()}}
	var err error
	if answer.archive, err = resolveURL(base, "download_url", w.DownloadURL); err != nil {
		return nil, err
	}
	if answer.sums, err = resolveURL(base, "shasums_url", w.SumsURL); err != nil {
		return nil, err
	}
	if answer.signature, err = resolveURL(base, "shasums_signature_url", w.SignatureURL); err != nil {
		return nil, err
	}
	answer.said.PublicKeys, err = w.publicKeys()
	return answer, err
}

// publicKeys returns the keys, one of which must have made the signature.
func (w *wirePackage) publicKeys() ([]PublicKey, error) {
	if n := len(w.SigningKeys.GPG); n > maxPGPKeys {
		return nil, fmt.Errorf("signing_keys.gpg_public_keys has %d keys, %d is the most", n, maxPGPKeys)
	}
	keys := make([]PublicKey, len(w.SigningKeys.GPG))
	for i, key := range w.SigningKeys.GPG {
		if key == nil {
			return nil, fmt.Errorf("signing_keys.gpg_public_keys[%d] is null", i)
		}
		keys[i] = PublicKey(*key)
	}
	return keys, nil
}

// resolveURL resolves a URL against the URL of the answer that has it. field is its name in errors,
// which don't repeat the URL because it may hold secrets.
func resolveURL(base *url.URL, field, given string) (*url.URL, error) {
	if given == "" {
		// As a reference, "" would be the answer's own URL.
		return nil, fmt.Errorf("%s is missing", field)
	}
	ref, err := url.Parse(given)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL", field)
	}
	u := base.ResolveReference(ref)
	if u.Scheme == base.Scheme && u.Host == base.Host {
		return u, nil // a mirror that isn't a web server has another scheme than http
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s has the scheme %q, which is neither http nor https", field, u.Scheme)
	}
	if u.Host == "" {
		return nil, fmt.Errorf("%s names no host", field)
	}
	return u, nil
}

// speaks reports whether one of a version's protocols is 5 or 6, in any minor version, which the
// products speak.
func speaks(protocols []string) (bool, error) {
	found := false
	for i, text := range protocols {
		v, err := ParseVersion(text)
		if err != nil {
			return false, fmt.Errorf("protocols[%d] is not a version", i)
		}
		found = found || v.Prerelease == "" && (v.Major == 5 || v.Major == 6)
	}
	return found, nil
}

// RegistrySource installs from each provider's origin registry: the one on the
// host that its address names, found by service discovery.
//
// The zero value works: it has Terraform's default host and signing keys.
//
// It asks once for the versions of a provider, and for the documents that authenticate the packages
// of a version, and caches the answers, so that one run sees one state of the registry and the
// hints in errors cost no request. Lists of versions are cached for VersionsMaxAge, documents for
// 15 minutes. Don't copy it or change its fields after the first use.
type RegistrySource struct {
	Client *http.Client // nil means one that this module shares, which tries a failed request once more
	// Discovery finds the registry's service; nil means one with this Client and these Credentials.
	Discovery *hosts.Discovery
	// Credentials are sent with requests to the registry's API, and never with those for checksum
	// lists, signatures and archives; nil means none. They are those of the provider's host, on
	// whichever host its discovery document puts the API. They aren't sent over plain http;
	// Terraform and OpenTofu do that. Discovery has credentials of its own.
	Credentials hosts.Credentials
	Product     Product // its version is sent to registries; zero means Terraform
	// VersionsMaxAge is how long a list of versions is cached; 0 means 15 minutes, a negative value
	// for ever.
	VersionsMaxAge time.Duration

	own       hosts.Discovery // used if Discovery is nil
	owned     sync.Once
	versions  par.Aged[Provider, Available]
	documents par.Aged[[2]string, SignedDocuments] // that authenticate packages, by their URLs, without keys
}

// service returns the base URL of the provider's registry.
func (s *RegistrySource) service(ctx context.Context, p Provider) (*url.URL, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	base, err := s.discovery().Service(ctx, p.Hostname, registryService)
	if err != nil {
		return nil, queryError(ctx, kindRegistry, p, err)
	}
	return base, nil
}

// discovery returns Discovery, or the source's own.
func (s *RegistrySource) discovery() *hosts.Discovery {
	if s.Discovery != nil {
		return s.Discovery
	}
	s.owned.Do(func() { s.own.Client, s.own.Credentials = s.Client, s.Credentials })
	return &s.own
}

// ask sends a request to the API of a provider's registry. It returns an answer with the status 200
// or 404, and the base URL of the registry.
//
// The path is resolved against the service's URL as a reference: a base URL without a slash at its
// end loses its last segment, as in Terraform and OpenTofu.
//
// The credentials are those of the provider's host, on whichever host its service is.
func (s *RegistrySource) ask(ctx context.Context, p Provider, segments ...string) (doc *hosts.Document, base *url.URL, err error) {
	if base, err = s.service(ctx, p); err != nil {
		return nil, nil, err
	}
	req, doc, err := hosts.AskService(ctx, s.Client, base, p.Hostname, s.Credentials, s.Product.Version, segments...)
	if err != nil {
		return nil, nil, queryError(ctx, kindRegistry, p, err)
	}
	if doc.StatusCode != http.StatusOK && doc.StatusCode != http.StatusNotFound {
		return nil, nil, statusError(kindRegistry, p, p.Hostname, req, doc)
	}
	return doc, base, nil
}

func registryName(p Provider) string { return "registry " + p.Hostname.String() }

// packageHashes returns the hashes that a description of a package lists for all packages of the
// version. They are in a property that isn't part of the protocol; a malformed property is ignored.
// The sizes beside them are ignored, too: a checksum says more.
func (w *wirePackage) packageHashes() map[Platform][]Hash {
	var packages map[string]struct {
		Hashes []Hash `json:"hashes"`
	}
	if len(w.Packages) == 0 || json.Unmarshal(w.Packages, &packages) != nil {
		return nil
	}
	found := map[Platform][]Hash{}
	for text, listed := range packages {
		if plat, err := ParsePlatform(text); err == nil && plat.String() == text {
			found[plat] = listed.Hashes
		}
	}
	return found
}
