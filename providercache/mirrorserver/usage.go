package mirrorserver

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Download is an archive that arrives.
type Download struct {
	Archive string // HOST/NAMESPACE/TYPE/NAME
	Bytes   int64  // that have arrived
	Size    int64  // of all of it; -1: not known
}

// DownloadsNow returns the downloads that run, by name.
func (s *Server) DownloadsNow() []Download {
	all := []Download{}
	for key, f := range s.flights.All() {
		d := Download{Archive: key, Size: -1}
		if arriving := f.arrival.Load(); arriving != nil {
			d.Bytes, _ = arriving.mark.At()
			d.Size = arriving.size
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Download) int { return strings.Compare(a.Archive, b.Archive) })
	return all
}

// StoredPackage is an archive in the bucket.
type StoredPackage struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	Platform getproviders.Platform
	Bytes    int64
	Stored   time.Time
	Used     time.Time // the end of the hour of its last use, as far as Collect knows it, or when it was stored
}

// StoredPackages lists the archives in the bucket, the newest ones first. It takes a request for each thousand objects.
// The error is the bucket's.
func (s *Server) StoredPackages(ctx context.Context) ([]StoredPackage, error) {
	held, err := s.heldArchives(ctx, nil)
	if err != nil {
		return nil, err
	}
	all := make([]StoredPackage, len(held))
	for i, a := range held {
		all[i] = a.StoredPackage
	}
	slices.SortFunc(all, func(a, b StoredPackage) int {
		return cmp.Or(b.Stored.Compare(a.Stored), a.Provider.Compare(b.Provider), b.Version.Compare(a.Version), cmp.Compare(a.Platform.String(), b.Platform.String()))
	})
	return all, nil
}

// heldArchives lists the archives of the bucket, and when they were used last.
func (s *Server) heldArchives(ctx context.Context, uses map[string]time.Time) (held []storedArchive, err error) {
	for info, err := range s.bucket.List(ctx, "providers/") {
		if err != nil {
			return nil, err
		}
		if a, ok := parseArchive(info); ok {
			if used := uses[a.Key]; used.After(a.Used) {
				a.Used = used
			}
			held = append(held, a)
		}
	}
	return held, nil
}
