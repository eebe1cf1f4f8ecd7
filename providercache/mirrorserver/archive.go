package mirrorserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// approve asks the policy about an archive.
func (s *Server) approve(ctx context.Context, asked request, record packagesRecord, state getproviders.CandidateState, from getproviders.Package, known receipt.Provenance) error {
	known.Authentication = getproviders.AuthenticationResult{TrustLevel: record.trustLevel(), KeyID: record.KeyID}
	return s.fetcher.Approve(ctx, fetch.Request{Selection: getproviders.Selection{Provider: asked.provider, Version: asked.version}, Package: from}, state, known)
}

// trustLevel is that of stored archives: each has at least the checksum that its source names.
func (r packagesRecord) trustLevel() getproviders.TrustLevel {
	return max(r.Level, getproviders.LevelVerifiedChecksum)
}

// serveStored sends an archive from the bucket. sent is false if the archive isn't there.
func (s *Server) serveStored(w http.ResponseWriter, r *http.Request, archive storedArchive) (sent bool, err error) {
	share, _ := s.serving.Join(archive.Key, func() (none struct{}) { return none })
	defer s.serving.Leave(archive.Key, share)
	object, err := s.bucket.Get(r.Context(), archive.Key, blob.GetOptions{})
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", getproviders.ErrUnreachable, err)
	}
	content := &objectReader{ctx: r.Context(), bucket: s.bucket, key: archive.Key, size: object.Size, body: object.Body}
	defer content.Close()
	first, err := s.firstUse(archive, object.Tag, content, r.Header.Get("Range") != "")
	if err != nil {
		return false, err
	}
	s.markUse(r.Context(), archive.Key)
	tellCache(r.Context(), "hit")
	if first == nil {
		s.sendArchive(w, r, archive.ZH, content, object.Size, &s.counts.stored)
		return true, nil
	}
	defer s.used(archive, object.Tag, first)
	s.sendArchive(w, r, archive.ZH, first, object.Size, &s.counts.stored)
	return true, nil
}

// sentArchives counts what clients got.
type sentArchives struct {
	archives atomic.Int64
	bytes    atomic.Int64
}

// sendArchive sends an archive, or a part of it, and counts its bytes, and the archive if its last byte was sent: one that
// arrives in several parts counts once, and a HEAD request not at all. If that fails, it aborts the response.
func (s *Server) sendArchive(w http.ResponseWriter, r *http.Request, zh getproviders.Hash, content io.ReaderAt, size int64, sent *sentArchives) {
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Cache-Control", s.caching(archiveCaching))
	if zh != "" {
		w.Header().Set("Etag", `"`+string(zh)+`"`)
	}
	served := &sentContent{from: content}
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(served, 0, size))
	sent.bytes.Add(served.read)
	if served.end == size && served.failed == nil && r.Context().Err() == nil {
		sent.archives.Add(1)
	}

	err := served.failed
	if err == nil || r.Context().Err() != nil {
		return
	}
	s.counts.broken.Add(1)
	s.countFailure(err)
	s.opts.Log.Error("a response breaks off", "path", r.URL.Path, "error", err.Error())
	panic(http.ErrAbortHandler) // the one way to tell the client that the response is incomplete
}

// sentContent is an archive that is sent. It is read in order, with short reads.
type sentContent struct {
	from   io.ReaderAt
	read   int64
	end    int64 // the offset after the last byte that was read
	failed error
}

// ReadAt implements io.ReaderAt.
func (c *sentContent) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.from.ReadAt(p, at)
	c.read += int64(n)
	c.end = at + int64(n)
	if err != nil && err != io.EOF {
		c.failed = err
	}
	return n, err
}
