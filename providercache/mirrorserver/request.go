package mirrorserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
)

// requestKind says what is asked for.
type requestKind int

const (
	indexRequest requestKind = iota
	versionRequest
	documentRequest // a list of checksums, its signature, or the keys
	archiveRequest
)

// request is a path that was understood.
type request struct {
	kind     requestKind
	provider getproviders.Provider
	version  getproviders.Version
	platform getproviders.Platform
	name     string // the last part of the path
}

// errNoSuch is about a path at which nothing can be.
var errNoSuch = errors.New("not found")

// What a client asks for that takes this URL for that of a registry.
var registryPaths = []string{"/.well-known/", "/v1/providers/", "/v1/modules/"}

// parsePath reads a path. Each thing has one: the names of providers and versions have to be written as the protocol writes them.
func parsePath(path string) (asked request, err error) {
	for _, prefix := range registryPaths {
		if strings.HasPrefix(path, prefix) {
			return asked, fmt.Errorf("%w: this is the URL of a network mirror, not of a registry: name it in a network_mirror block", errNoSuch)
		}
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(parts) != 4 {
		return asked, fmt.Errorf("%w: a mirror has HOST/NAMESPACE/TYPE/index.json, VERSION.json and archives beside it", errNoSuch)
	}
	host, err := hosts.ParseHostname(parts[0])
	if err != nil {
		return asked, fmt.Errorf("%w: %w", errNoSuch, err)
	}
	asked.provider = getproviders.Provider{Hostname: host, Namespace: parts[1], Type: parts[2]}
	asked.name = parts[3]
	if err := asked.provider.Validate(); err != nil || providerPath(asked.provider) != strings.Join(parts[:3], "/") {
		return asked, fmt.Errorf("%w: %.200q is no provider's address", errNoSuch, strings.Join(parts[:3], "/"))
	}
	return asked, asked.parseName()
}

// parseName reads the last part of a path.
func (asked *request) parseName() error {
	if asked.name == indexName {
		return nil
	}
	if v, ok := getproviders.ParseDocumentName(asked.name, asked.provider); ok {
		asked.kind, asked.version = documentRequest, v
		return nil
	}
	if v, plat, ok := getproviders.ParsePackedName(asked.name, asked.provider.Type); ok && getproviders.PackedName(asked.provider, v, plat) == asked.name {
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

const indexName = "index.json"

// providerPath is where a provider is, in URLs and in the bucket.
func providerPath(p getproviders.Provider) string {
	return p.Hostname.ASCII() + "/" + p.Namespace + "/" + p.Type
}

// allowed reports whether a request may be answered.
func (s *Server) allowed(r *http.Request, asked request) bool {
	return s.opts.Allow == nil || s.opts.Allow(r) || asked.kind == archiveRequest && s.signedURL(r, asked)
}

// urlLifetime is how long a signed URL is good for at least. It is good for twice as long at most, and the same for all that
// ask within that time, so that documents have the same ETag.
const urlLifetime = 15 * time.Minute

// archiveURL is the URL of an archive, relative to that of its version's document.
func (s *Server) archiveURL(p getproviders.Provider, name string) string {
	if s.opts.SigningKey == nil {
		return url.PathEscape(name)
	}
	until := s.urlsUntil()
	return url.PathEscape(name) + "?" + url.Values{"until": {strconv.FormatInt(until, 10)}, "signature": {s.sign(p, name, until)}}.Encode()
}

// urlsUntil is when URLs that are signed now expire, in seconds.
func (s *Server) urlsUntil() int64 {
	if s.opts.SigningKey == nil {
		return 0
	}
	return s.opts.Now().Truncate(urlLifetime).Add(2 * urlLifetime).Unix()
}

// sign signs the path of an archive together with the time at which the URL expires.
func (s *Server) sign(p getproviders.Provider, name string, until int64) string {
	mac := hmac.New(sha256.New, s.opts.SigningKey)
	fmt.Fprintf(mac, "%s/%s\n%d", providerPath(p), name, until)
	return hex.EncodeToString(mac.Sum(nil))
}

// signedURL reports whether a request has the URL that a document named not long ago.
func (s *Server) signedURL(r *http.Request, asked request) bool {
	query := r.URL.Query()
	until, err := strconv.ParseInt(query.Get("until"), 10, 64)
	if s.opts.SigningKey == nil || err != nil || s.opts.Now().Unix() >= until {
		return false
	}
	return hmac.Equal([]byte(query.Get("signature")), []byte(s.sign(asked.provider, asked.name, until)))
}

// fail answers a request that failed, in a sentence that says why.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	switch {
	case r.Context().Err() != nil:
		return // no one reads it
	case errors.Is(err, errNoSuch), errors.Is(err, getproviders.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, fetcher.ErrRefused):
		status = http.StatusForbidden
	case errors.Is(err, errClosed):
		status = http.StatusServiceUnavailable
	case errors.Is(err, getproviders.ErrAuthentication):
		s.counts.refusedArchives.Add(1)
	}
	if status != http.StatusNotFound {
		s.opts.Log.Error("request failed", "path", r.URL.Path, "status", status, "error", err.Error())
	}
	s.refuse(w, status, err.Error())
}

// refuse answers with a status and a sentence, in the form in which registries say no.
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
	w.Write(append(body, '\n')) // a client that has left needs no answer
}
