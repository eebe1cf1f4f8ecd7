package mirrorserver

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
)

// How long caches may keep responses. A document may be used longer
// while the server doesn't answer, as with public registries.
const (
	documentCaching = "max-age=60, stale-while-revalidate=600, stale-if-error=86400"
	archiveCaching  = "max-age=31536000, immutable"
)

// serveIndex sends the list of a provider's versions.
func (s *Server) serveIndex(w http.ResponseWriter, r *http.Request, asked request) error {
	found, versions, err := s.allowedOf(r.Context(), asked.provider)
	if err != nil {
		return err
	}
	return serveMade(s, w, r, found, "", func() any {
		index := archivedir.IndexDocument{Versions: map[string]struct{}{}}
		for _, v := range versions {
			index.Versions[v.String()] = struct{}{}
		}
		return index
	})
}

// serveVersion sends the list of a version's archives.
func (s *Server) serveVersion(w http.ResponseWriter, r *http.Request, asked request) error {
	p, v := asked.provider, asked.version
	found, err := s.packagesOf(r.Context(), p, v)
	if err != nil {
		return err
	}
	stored := s.storedOf(r.Context(), p, v)
	who := s.sender(r)
	variant := strconv.FormatInt(stored.serial, 36) + "/" + s.urlsVariant(who)
	return serveMade(s, w, r, found, variant, func() any {
		version := archivedir.VersionDocument{Archives: map[string]archivedir.ArchiveEntry{}}
		for plat := range found.value.Packages {
			version.Archives[plat.String()] = archivedir.ArchiveEntry{
				Hashes: found.value.hashesOf(plat, stored.value), URL: s.fileURL(p, p.PackedName(v, plat), who),
			}
		}
		return version
	})
}

// serveSigned sends one of the signed documents, or the keys.
func (s *Server) serveSigned(w http.ResponseWriter, r *http.Request, asked request) error {
	p, v := asked.provider, asked.version
	found, err := s.packagesOf(r.Context(), p, v)
	if err != nil {
		return err
	}
	if found.value.Signed == nil {
		return fmt.Errorf("%w: there are no signed checksums of version %s of %s", errNoSuch, v, p)
	}
	signed := getproviders.SignedDocuments(*found.value.Signed)
	switch asked.name {
	case layout.ChecksumsName(p, v):
		s.serveDocument(w, r, "text/plain; charset=utf-8", newDocument("", signed.Sums))
	case layout.SignatureName(p, v):
		s.serveDocument(w, r, "application/octet-stream", newDocument("", signed.Signature))
	default:
		s.serveDocument(w, r, "application/json", newDocument("", signed.EncodeKeys()))
	}
	return nil
}

// serveMade sends a JSON document made of an answer, or a recent one of the same variant.
func serveMade[V any](s *Server, w http.ResponseWriter, r *http.Request, of *answer[V], variant string, content func() any) error {
	made, err := of.document(r.Context(), s.room, variant, func() []byte { return encode(content()) })
	if err == nil {
		s.serveDocument(w, r, "application/json", made)
	}
	return err
}

// serveDocument sends a document, a part of it, or 304. Parts are of the unpacked document.
func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request, contentType string, d *document) {
	s.counts.documents.Add(1)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", s.caching(documentCaching))
	if d.packed != nil {
		w.Header().Set("Vary", "Accept-Encoding")
	}
	if d.packed == nil || r.Header.Get("Range") != "" || !acceptsGzip(r) {
		w.Header().Set("Etag", `"`+d.tag+`"`)
		http.ServeContent(w, r, "", time.Time{}, d.open())
		return
	}
	w.Header().Set("Etag", `"`+d.tag+`-gzip"`)
	w.Header().Set("Content-Encoding", "gzip")
	http.ServeContent(packedWriter{w, len(d.packed)}, r, "", time.Time{}, bytes.NewReader(d.packed))
}

// packedWriter sets the length of an encoded response, which
// ServeContent doesn't. Other responses, such as 412, have no body.
type packedWriter struct {
	http.ResponseWriter
	size int
}

func (w packedWriter) WriteHeader(status int) {
	if status == http.StatusOK {
		w.Header().Set("Content-Length", strconv.Itoa(w.size))
	} else {
		w.Header().Del("Content-Encoding")
	}
	w.ResponseWriter.WriteHeader(status)
}

// acceptsGzip reports whether a client accepts gzip.
func acceptsGzip(r *http.Request) bool {
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return err != nil || q > 0
		}
	}
	return false
}

// caching returns who may cache a response: only the client, if not everyone may have it.
func (s *Server) caching(header string) string {
	if s.opts.Allow != nil {
		return "private, " + header
	}
	return "public, " + header
}

func encode(value any) []byte {
	text, _ := wholefile.JSON(value) // maps of strings: always encodable
	return text
}
