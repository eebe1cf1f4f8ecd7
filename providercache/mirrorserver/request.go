package mirrorserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
)

// requestKind is the kind of a request.
type requestKind int

const (
	indexRequest requestKind = iota
	versionRequest
	documentRequest // a list of checksums, its signature, or the keys
	archiveRequest
	registryVersionsRequest // of a provider, as a registry lists them
	registryPackageRequest  // of a provider's version, for one platform
	moduleVersionsRequest
	moduleLocationRequest
)

// request is a parsed path.
type request struct {
	kind     requestKind
	provider getproviders.Provider
	version  getproviders.Version
	platform getproviders.Platform
	name     string // the last part of the path
	module   Module // of requests about modules, which have no provider
	release  string // the module's version
}

// subject returns the provider or module that the request is about.
func (asked request) subject() string {
	if asked.module != (Module{}) {
		return "the module " + asked.module.String()
	}
	return "the provider " + asked.provider.String()
}

// errNoSuch is for paths that can't exist.
var errNoSuch = errors.New("not found")

// Paths that a client requests if it takes this URL for that of a registry.
var registryPaths = []string{"/.well-known/", "/v1/providers/", "/v1/modules/"}

// parsePath parses a path. Each resource has exactly one path: names of
// providers and versions have to be written as the protocol writes them.
func parsePath(path string) (asked request, err error) {
	for _, prefix := range registryPaths {
		if strings.HasPrefix(path, prefix) {
			return asked, fmt.Errorf("%w: this is the URL of a network mirror, not of a registry: name it in a network_mirror block", errNoSuch)
		}
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	host, err := hosts.ParseHostname(parts[0])
	if err != nil && len(parts) >= 4 {
		return asked, fmt.Errorf("%w: %w", errNoSuch, err)
	}
	switch {
	case len(parts) == 5 && parts[4] == "versions", len(parts) == 6 && parts[5] == "download":
		return asked, asked.parseModule(host, parts)
	case len(parts) == 4, len(parts) == 7 && parts[4] == "download":
	case len(parts) == 5 && strings.HasSuffix(parts[4], ".json"):
		return asked, fmt.Errorf("%w: this is the URL of a registry, for a host block: in a network_mirror block the URL ends before the host", errNoSuch)
	case len(parts) == 3 && parts[2] == "versions":
		return asked, fmt.Errorf("%w: this is the URL of a network mirror: in a host block the URL ends with the host whose providers are meant", errNoSuch)
	default:
		return asked, fmt.Errorf("%w: a mirror has HOST/NAMESPACE/TYPE/index.json, VERSION.json and archives beside it", errNoSuch)
	}
	asked.provider = getproviders.Provider{Hostname: host, Namespace: parts[1], Type: parts[2]}
	asked.name = parts[3]
	if err := asked.provider.Validate(); err != nil || providerPath(asked.provider) != strings.Join(parts[:3], "/") || host.Rootless() != host {
		return asked, fmt.Errorf("%w: %.200q is not the address of a provider", errNoSuch, strings.Join(parts[:3], "/"))
	}
	if len(parts) == 7 {
		return asked, asked.parsePackage(parts[3], parts[5]+"_"+parts[6])
	}
	return asked, asked.parseName()
}

// hidesParts reports whether a path has an encoded separator or dot. A proxy that authorizes requests
// by their paths may take such a path for another one. Paths of providers never need one.
func hidesParts(u *url.URL) bool {
	raw := strings.ToLower(u.RawPath)
	return strings.Contains(raw, "%2f") || strings.Contains(raw, "%5c") || strings.Contains(raw, "%2e")
}

// parsePackage parses a registry's path of a package.
func (asked *request) parsePackage(version, platform string) error {
	v, err := getproviders.ParseVersion(version)
	plat, platformErr := getproviders.ParsePlatform(platform)
	if err != nil || platformErr != nil || v.String() != version || plat.String() != platform || v.Validate() != nil {
		return fmt.Errorf("%w: %.200q for %.200q is not a package", errNoSuch, version, platform)
	}
	asked.kind, asked.version, asked.platform = registryPackageRequest, v, plat
	return nil
}

// parseModule parses a registry's path of a module.
func (asked *request) parseModule(host hosts.Hostname, parts []string) error {
	asked.module, asked.kind = Module{Host: host, Namespace: parts[1], Name: parts[2], System: parts[3]}, moduleVersionsRequest
	if len(parts) == 6 {
		asked.kind, asked.release = moduleLocationRequest, parts[4]
	}
	if host.ASCII() != parts[0] || host.Rootless() != host || !isName(parts[1]) || !isName(parts[2]) || !isName(parts[3]) || len(parts) == 6 && !isRelease(parts[4]) {
		return fmt.Errorf("%w: %.200q is not the address of a module", errNoSuch, strings.Join(parts[:4], "/"))
	}
	return nil
}

// parseName parses the last part of a path.
func (asked *request) parseName() error {
	if asked.name == archivedir.IndexName {
		return nil
	}
	if asked.name == "versions" {
		asked.kind = registryVersionsRequest
		return nil
	}
	if v, ok := asked.provider.ParseDocumentName(asked.name); ok {
		asked.kind, asked.version = documentRequest, v
		return nil
	}
	if v, plat, ok := asked.provider.ParsePackedName(asked.name); ok && asked.provider.PackedName(v, plat) == asked.name {
		asked.kind, asked.version, asked.platform = archiveRequest, v, plat
		return nil
	}
	if text, ok := strings.CutSuffix(asked.name, ".json"); ok {
		if v, err := getproviders.ParseVersion(text); err == nil && v.String() == text && v.Validate() == nil {
			asked.kind, asked.version = versionRequest, v
			return nil
		}
	}
	return fmt.Errorf("%w: %.200q is neither index.json, nor a version's document, nor an archive", errNoSuch, asked.name)
}

// fail answers a failed request, with a sentence that says why.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	switch {
	case r.Context().Err() != nil:
		return // no one reads it
	case errors.Is(err, errClosed), errors.Is(err, errRequests), errors.Is(err, errDownloads), errors.Is(err, errDisk), errors.Is(err, par.ErrNoRoom):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
	case disk.IsFull(err):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "60")
	case errors.Is(err, errNoSuch), errors.Is(err, getproviders.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, getproviders.ErrRefused):
		status = http.StatusForbidden
	case errors.Is(err, errUnsigned), errors.Is(err, getproviders.ErrProtocol): // clients don't retry
		status = http.StatusNotImplemented
	}
	s.countFailure(err)
	if status != http.StatusNotFound {
		s.opts.Log.Error("request failed", "path", r.URL.Path, "status", status, "error", err.Error())
	}
	s.refuse(w, status, err.Error())
}

// countFailure counts a failed response by its kind.
func (s *Server) countFailure(err error) {
	c := &s.counts
	for kind, counter := range map[error]*atomic.Int64{
		errRequests: &c.tooManyRequests, errDownloads: &c.tooManyDownloads, errDisk: &c.tooMuchDisk, par.ErrNoRoom: &c.tooMuchMemory,
		getproviders.ErrRefused: &c.refusedByPolicy, getproviders.ErrAuthentication: &c.refusedArchives,
	} {
		if errors.Is(err, kind) {
			counter.Add(1)
		}
	}
}

// refuse answers with a status and a sentence, in the form of registries' errors.
func (s *Server) refuse(w http.ResponseWriter, status int, text string) {
	if status == http.StatusNotFound {
		s.counts.notFound.Add(1)
	} else {
		s.counts.failed.Add(1)
	}
	body, err := json.Marshal(map[string][]string{"errors": {text}})
	if err != nil {
		body = []byte("{}")
	}
	header := w.Header()
	for _, name := range []string{"Etag", "Content-Length", "Content-Range"} {
		header.Del(name)
	}
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // errors are ignored: the client has left
}

// errUnsigned is for providers whose source has no signed checksums, which the registry protocol requires.
var errUnsigned = errors.New("there are no signed checksums")

// isName reports whether a text can be a part of a module's address: letters, digits, and "-" and "_" between them.
func isName(text string) bool {
	return len(text) <= 64 && text != "" && strings.Trim(text, nameCharacters) == "" && !strings.ContainsAny(text[:1]+text[len(text)-1:], "-_")
}

// isRelease reports whether a text can be a module's version.
func isRelease(text string) bool {
	return len(text) <= 128 && text != "" && strings.Trim(text, nameCharacters+".+") == "" && text[0] >= '0' && text[0] <= '9'
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
