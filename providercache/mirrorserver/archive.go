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

// serveArchive sends an archive: from the bucket, or while it arrives from the source.
func (s *Server) serveArchive(w http.ResponseWriter, r *http.Request, asked request) error {
	found, err := s.packagesOf(r.Context(), asked.provider, asked.version)
	if err != nil {
		return err
	}
	pkg, ok := found.value.Packages[asked.platform]
	if !ok {
		return fmt.Errorf("%w: version %s of %s has no package for %s", errNoSuch, asked.version, asked.provider, asked.platform)
	}
	stored := s.storedOf(r.Context(), asked.provider, asked.version)
	if archive, ok := pkg.find(stored.value, asked.platform); ok {
		known := receipt.Provenance{ZH: archive.ZH, H1: archive.H1, Released: archive.Released}
		if err := s.approve(r.Context(), asked, found.value, getproviders.StateCached, getproviders.Package{
			Platform: asked.platform, Source: found.value.Source, SourceURL: found.value.SourceURL, FromRegistry: found.value.FromRegistry,
		}, known); err != nil {
			return err
		}
		sent, err := s.serveStored(w, r, archive)
		if sent || err != nil && !errors.Is(err, errDamaged) {
			return err
		}
		s.stored.forget(archivesDir(asked.provider, asked.version)) // another server has removed it
	}
	return s.serveFlight(w, r, asked, found.value)
}

// approve asks the policy about an archive.
func (s *Server) approve(ctx context.Context, asked request, record packagesRecord, state getproviders.CandidateState, from getproviders.Package, known receipt.Provenance) error {
	known.Authentication = getproviders.AuthenticationResult{TrustLevel: record.trustLevel(), KeyID: record.KeyID}
	return s.fetcher.Approve(ctx, fetch.Request{Selection: getproviders.Selection{Provider: asked.provider, Version: asked.version}, Package: from}, state, known)
}

// trustLevel is that of the archives that are stored: nothing is that hasn't the checksum that its source names.
func (r packagesRecord) trustLevel() getproviders.TrustLevel {
	return max(r.Level, getproviders.LevelVerifiedChecksum)
}

// serveStored sends an archive from the bucket. sent is false if it isn't there.
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
	s.counts.stored.Add(1)
	if first == nil {
		s.sendArchive(w, r, archive.ZH, content, object.Size, &s.counts.storedSize)
		return true, nil
	}
	defer s.used(archive, object.Tag, first)
	s.sendArchive(w, r, archive.ZH, first, object.Size, &s.counts.storedSize)
	return true, nil
}

// sendArchive sends an archive, or a part of it, and counts the bytes. A response that can't be completed breaks off.
func (s *Server) sendArchive(w http.ResponseWriter, r *http.Request, zh getproviders.Hash, content io.ReaderAt, size int64, sent *atomic.Int64) {
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Cache-Control", s.caching(archiveCaching))
	if zh != "" {
		w.Header().Set("Etag", `"`+string(zh)+`"`)
	}
	served := &sentContent{from: content}
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(served, 0, size))
	sent.Add(served.read)
	err := served.failed
	if err == nil || r.Context().Err() != nil {
		return
	}
	s.counts.broken.Add(1)
	s.countFailure(err)
	s.opts.Log.Error("a response breaks off", "path", r.URL.Path, "error", err.Error())
	panic(http.ErrAbortHandler) // the one way to tell the client that this isn't all
}

// sentContent is an archive that is sent. It is read one piece after the other, each of which may be less than what is asked for.
type sentContent struct {
	from   io.ReaderAt
	read   int64
	failed error
}

// ReadAt implements io.ReaderAt.
func (c *sentContent) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.from.ReadAt(p, at)
	if c.read += int64(n); err != nil && err != io.EOF {
		c.failed = err
	}
	return n, err
}

// objectReader reads an object at the places that are asked for, by one request for each.
type objectReader struct {
	ctx    context.Context
	bucket blob.Bucket
	key    string
	size   int64

	body   io.ReadCloser // at the position begins; nil: it isn't open
	begins int64
}

// ReadAt implements io.ReaderAt.
func (o *objectReader) ReadAt(p []byte, at int64) (int, error) {
	if o.body != nil && o.begins != at {
		o.Close()
	}
	if o.body == nil {
		object, err := o.bucket.Get(o.ctx, o.key, blob.GetOptions{Offset: at})
		if err != nil {
			return 0, err
		}
		o.body, o.begins = object.Body, at
	}
	n, err := o.body.Read(p)
	if o.begins += int64(n); err == io.EOF && o.begins < o.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements io.Closer.
func (o *objectReader) Close() error {
	if o.body == nil {
		return nil
	}
	err := o.body.Close()
	o.body = nil
	return err
}
