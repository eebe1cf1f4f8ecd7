package mirrorserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// document is what is sent, ready to be sent.
type document struct {
	variant string // which of those that could be made of one answer
	body    []byte
	tag     string // for the header ETag
}

func newDocument(variant string, body []byte) *document {
	sum := sha256.Sum256(body)
	return &document{variant: variant, body: body, tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
}

// How long others may keep what was sent. A document may be used for longer while the server doesn't answer, as public registries allow it.
const (
	documentCaching = "max-age=60, stale-while-revalidate=600, stale-if-error=86400"
	archiveCaching  = "max-age=31536000, immutable"
)

// wireIndex is index.json, and wireVersion VERSION.json, as the protocol has them.
type wireIndex struct {
	Versions map[string]struct{} `json:"versions"`
}

type wireVersion struct {
	Archives map[string]wireArchive `json:"archives"`
}

type wireArchive struct {
	Hashes []getproviders.Hash `json:"hashes,omitempty"`
	URL    string              `json:"url"`
}

// serveIndex sends all versions of a provider.
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request, p getproviders.Provider) error {
	found, err := s.versionsOf(r.Context(), p)
	if err != nil {
		return err
	}
	s.serveDocument(w, r, "application/json", found.document("", func() []byte {
		index := wireIndex{Versions: map[string]struct{}{}}
		for _, v := range found.value.Versions {
			index.Versions[v.String()] = struct{}{}
		}
		return encode(index)
	}))
	return nil
}

// serveVersion sends the archives of a version.
func (s *Server) serveVersion(w http.ResponseWriter, r *http.Request, p getproviders.Provider, v getproviders.Version) error {
	found, err := s.packagesOf(r.Context(), p, v)
	if err != nil {
		return err
	}
	stored := s.storedOf(r.Context(), p, v)
	variant := strconv.FormatInt(stored.serial, 36) + "/" + strconv.FormatInt(s.urlsUntil(), 36)
	s.serveDocument(w, r, "application/json", found.document(variant, func() []byte {
		version := wireVersion{Archives: map[string]wireArchive{}}
		for plat := range found.value.Packages {
			version.Archives[plat.String()] = wireArchive{
				Hashes: found.value.hashesOf(plat, stored.value), URL: s.fileURL(p, getproviders.PackedName(p, v, plat)),
			}
		}
		return encode(version)
	}))
	return nil
}

// serveSigned sends one of the documents that are signed, or the keys.
func (s *Server) serveSigned(w http.ResponseWriter, r *http.Request, asked request) error {
	p, v := asked.provider, asked.version
	found, err := s.packagesOf(r.Context(), p, v)
	if err != nil {
		return err
	}
	if found.value.Signed == nil {
		return fmt.Errorf("%w: nothing is signed about version %s of %s", errNoSuch, v, p)
	}
	signed := found.value.Signed.documents()
	switch asked.name {
	case getproviders.ChecksumsName(p, v):
		s.serveDocument(w, r, "text/plain; charset=utf-8", newDocument("", signed.Sums))
	case getproviders.SignatureName(p, v):
		s.serveDocument(w, r, "application/octet-stream", newDocument("", signed.Signature))
	default:
		s.serveDocument(w, r, "application/json", newDocument("", signed.EncodeKeys()))
	}
	return nil
}

// serveDocument sends a document, or that it hasn't changed, or a part of it.
func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request, contentType string, d *document) {
	s.counts.documents.Add(1)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Etag", d.tag)
	w.Header().Set("Cache-Control", s.caching(documentCaching))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.body))
}

// caching says who may keep an answer: only the client itself, where not everyone may have it.
func (s *Server) caching(header string) string {
	if s.opts.Allow != nil {
		return "private, " + header
	}
	return "public, " + header
}

func encode(value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // URLs have "&" in them
	encoder.SetIndent("", "  ")
	if encoder.Encode(value) != nil { // texts in maps: nothing that can't be encoded
		return nil
	}
	return b.Bytes()
}
