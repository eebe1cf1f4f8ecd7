package mirrorserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// flight is an archive that is being downloaded, with all requests that wait for it. It
// goes on when clients have left, because the next one will want the archive, too.
type flight struct {
	key   string
	room  int64    // on the disk
	begun par.Mark // 1 when bytes begin to arrive; ended when the archive has passed all checks, or has failed

	arrival atomic.Pointer[arrival]     // nil: no byte has arrived
	dir     atomic.Pointer[scratch.Dir] // of the file; nil: no file yet
}

// arrival is one attempt to download an archive: the file, the number of bytes in it, and the total size, -1 if that isn't known.
type arrival struct {
	path string
	mark *par.Mark
	size int64
}

// serveFlight sends an archive that isn't in the bucket.
func (s *Server) serveFlight(w http.ResponseWriter, r *http.Request, asked request, record packagesRecord) error {
	share, err := s.join(r.Context(), asked, record)
	if err != nil {
		return err
	}
	defer s.leave(share)
	f := share.Value
	_, err = f.begun.Beyond(r.Context(), 0)
	if errors.Is(err, errStored) {
		if sent, err := s.serveAllowed(w, r, asked, record); sent || err != nil {
			return err
		}
	}
	if err != nil && err != io.EOF {
		return err
	}
	content, err := f.open(r.Context(), r.Header.Get("Range") != "")
	if err != nil {
		return err
	}
	defer content.file.Close()
	tellCache(r.Context(), "fwd=miss")
	var zh getproviders.Hash
	for _, h := range record.Packages[asked.platform].Hashes {
		if h.Scheme() == hashing.ZH {
			zh = h
		}
	}
	s.sendArchive(w, r, zh, content, content.arrival.size, &s.counts.fetched)
	return nil
}

// join returns the running download of an archive, or begins one. The error is errDownloads if too many
// wait: downloads go on without their clients, so that clients could otherwise start any number.
func (s *Server) join(ctx context.Context, asked request, record packagesRecord) (*par.Share[*flight], error) {
	key := providerPath(asked.provider) + "/" + asked.name
	if s.counts.downloading.Load() >= int64(s.fetcher.Limits.Downloads+s.opts.Waiting) && !s.flights.Has(key) {
		return nil, errDownloads
	}
	share, made := s.flights.Join(key, func() *flight { return &flight{key: key} })
	if !made {
		s.counts.coalesced.Add(1)
		return share, nil
	}
	s.flights.Join(key, nil) // the download holds a share, too
	s.counts.downloading.Add(1)
	s.tasks.Begin(ctx, func(ctx context.Context) {
		lease := "serve/downloads/" + strings.TrimSuffix(key, ".zip") + ".lease"
		tag, err := s.awaitTurn(ctx, lease, asked, record.Packages[asked.platform])
		if err == nil && tag != "" {
			err = s.holding(ctx, lease, tag, func(ctx context.Context) error { return s.download(ctx, share.Value, asked, record) })
		} else if err == nil {
			err = s.download(ctx, share.Value, asked, record)
		}
		if disk.IsFull(err) {
			s.counts.diskFull.Add(1)
		}
		s.counts.downloading.Add(-1)
		s.flights.Withdraw(key, share) // later requests find it in the bucket, or try again
		share.Value.begun.End(err)     // for waiting requests; it has ended already if the archive has passed all checks
		s.leave(share)
	})
	return share, nil
}

// leave gives up a share of a flight. The last one removes the file.
func (s *Server) leave(share *par.Share[*flight]) {
	if !s.flights.Leave(share.Value.key, share) {
		return
	}
	if dir := share.Value.dir.Load(); dir != nil {
		dir.Remove()
		s.counts.arriving.Add(-share.Value.room)
	}
}

// download downloads an archive from the source and stores it. Clients learn of an error if the download failed, not if storing did.
func (s *Server) download(ctx context.Context, f *flight, asked request, record packagesRecord) error {
	account := s.room.Open() // for the package's metadata; archives are written to the disk
	found, err := s.fresh().Package(hosts.WithMeter(ctx, account.Take), asked.provider, asked.version, asked.platform)
	account.Close()
	if err != nil {
		return err
	}
	if _, ok := found.Location.(getproviders.LocalDirectory); ok {
		return errors.New("the source has this package unpacked, and a mirror serves archives")
	}
	if err := s.approve(ctx, asked, record, getproviders.StateKnown, found, receipt.Provenance{}); err != nil {
		return err
	}
	t := fetch.Request{Selection: getproviders.Selection{Provider: asked.provider, Version: asked.version}, Package: found}
	leave, err := s.fetcher.Enter(ctx, &t) // before a file or a document exists, until the archive is stored
	if err != nil {
		return err
	}
	defer leave()
	s.counts.downloads.Add(1)
	dir, err := scratch.Make(s.opts.Temporary)
	if err != nil {
		return err
	}
	path := filepath.Join(dir.Path, "archive.zip")
	f.dir.Store(dir)
	t.Follow = func(mark *par.Mark, size int64) { // readers of an earlier attempt can't use this one
		f.arrival.Store(&arrival{path: path, mark: mark, size: size})
		f.begun.Advance(1)
	}
	t.Admit = func(total int64) error {
		more := max(total-f.room, 0)
		if taken := s.counts.arriving.Add(more); s.opts.DiskBytes > 0 && taken > s.opts.DiskBytes {
			s.counts.arriving.Add(-more)
			return errDisk
		}
		f.room += more
		return nil
	}
	got, err := s.fetcher.FetchArchive(ctx, t, path, "")
	if err != nil {
		return err
	}
	s.counts.downloadedSize.Add(got.ArchiveBytes)
	f.begun.End(nil) // clients get the rest now, even if storing fails
	if got.Authentication.TrustLevel == getproviders.LevelUnauthenticated {
		s.opts.Log.Warn("an archive isn't stored, because its source has nothing to authenticate it by", "archive", f.key)
		return nil
	}
	if err = s.put(ctx, asked, path, got); err != nil {
		s.notStored("archive", f.key, err)
	}
	return err
}

// put stores an archive that has passed all checks. Clients already
// have all of it, so a server that ends meanwhile still stores it.
func (s *Server) put(ended context.Context, asked request, path string, got receipt.Provenance) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ended))
	defer cancel()
	stop := context.AfterFunc(ended, func() { time.AfterFunc(markTimeout, cancel) })
	defer stop()
	key, err := archiveKey(asked.provider, asked.version, asked.platform, got.ZH, got.H1, got.Released)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	err = buckets.PutOnce(ctx, s.bucket, key, io.NewSectionReader(file, 0, got.ArchiveBytes), blob.PutOptions{ContentType: "application/zip", CacheControl: s.caching(archiveCaching)})
	s.stored.forget(archivesDir(asked.provider, asked.version))
	return err
}

// open opens the file of a download, whose size is known then. In two cases it waits until the archive has passed all
// checks: if a client wants a part, because a part without the last bytes is a complete response, and if the file
// isn't a zip archive but a document or a page, which clients mustn't get; they get the error instead.
func (f *flight) open(ctx context.Context, part bool) (*flightReader, error) {
	at := *f.arrival.Load()
	if part || at.size <= heldBack || !at.isZip(ctx) {
		if err := f.passed(ctx); err != nil {
			return nil, err
		}
		at = *f.arrival.Load() // another attempt may have succeeded
	}
	file, err := os.Open(at.path)
	if err != nil {
		return nil, err
	}
	if at.size < 0 {
		at.size, _ = at.mark.At()
	}
	return &flightReader{ctx: ctx, flight: f, arrival: at, file: file}, nil
}

// isZip waits for the first bytes, and reports whether they are those of a zip archive.
func (a arrival) isZip(ctx context.Context) bool {
	const first = "PK\x03\x04"
	if _, err := a.mark.Beyond(ctx, int64(len(first)-1)); err != nil {
		return false
	}
	file, err := os.Open(a.path)
	if err != nil {
		return false
	}
	defer file.Close()
	got := make([]byte, len(first))
	_, err = file.ReadAt(got, 0)
	return err == nil && string(got) == first
}

// passed waits until the archive has passed all checks.
func (f *flight) passed(ctx context.Context) error {
	for at := int64(0); ; {
		now, err := f.begun.Beyond(ctx, at)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at = now
	}
}

// flightReader reads an archive while it arrives: it waits for missing bytes, and
// returns the last ones only when the archive has passed all checks.
type flightReader struct {
	ctx     context.Context
	flight  *flight
	arrival arrival
	file    *os.File
}

// ReadAt implements io.ReaderAt.
func (r *flightReader) ReadAt(p []byte, at int64) (int, error) {
	end, err := r.available(at)
	if err != nil {
		return 0, err
	}
	n, err := r.file.ReadAt(p[:min(int64(len(p)), end-at)], at)
	if n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
}

// available waits until there are bytes at an offset, and returns where they end.
func (r *flightReader) available(at int64) (int64, error) {
	held := r.arrival.size - heldBack
	if at >= held {
		return r.arrival.size, r.flight.passed(r.ctx)
	}
	now, err := r.arrival.mark.Beyond(r.ctx, at)
	if err != nil {
		return 0, err
	}
	return min(now, held), nil
}

// Download is an archive that is being downloaded.
type Download struct {
	Archive string // HOST/NAMESPACE/TYPE/NAME
	Bytes   int64  // downloaded so far
	Size    int64  `json:",omitzero"` // of the whole archive; 0: unknown
}

// DownloadsNow returns the running downloads, sorted by name.
func (s *Server) DownloadsNow() []Download {
	all := []Download{}
	for key, f := range s.flights.All() {
		d := Download{Archive: key}
		if arriving := f.arrival.Load(); arriving != nil {
			d.Bytes, _ = arriving.mark.At()
			d.Size = max(arriving.size, 0)
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Download) int { return strings.Compare(a.Archive, b.Archive) })
	return all
}
