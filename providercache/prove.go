package providercache

import (
	"context"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// prove finds out what a package is: by its receipt if that still holds, else
// by reading it. What nothing could be concluded from isn't read, and nothing
// is known of it then. The error says why it can't be read, or that it isn't
// there. What was read is to get a receipt.
func (l looker) prove(ctx context.Context, t fetcher.Request, at store.View) (found receipt.Provenance, read []receipt.Pending, err error) {
	name := l.in.packageName(t.Selection)
	if found, ok := l.byReceipt(at, name); ok {
		return found, nil, nil
	}
	if at.IsSame(l.target) && l.isOfCachedFiles(t) {
		at = l.shared
	}
	made, known := at.Find(name)
	claimed := made.Claims()
	if len(resolve.OfScheme(t.Recorded, getproviders.SchemeH1)) == 0 && !(known && l.in.accepts(ctx, t, claimed)) {
		_, err := os.Stat(at.Path(name))
		return receipt.Provenance{}, nil, err
	}
	h1, record, err := l.in.read(ctx, t.Selection, at)
	if err != nil {
		return receipt.Provenance{}, nil, err
	}
	found = receipt.Provenance{H1: h1}
	if known && claimed.H1 == h1 {
		found = claimed
	}
	if found.H1 == claimed.H1 || slices.Contains(t.Recorded, h1) { // else its receipt may still show that it is damaged
		read = append(read, receipt.Pending{Name: name, Dir: at.Path(name), Shared: at.IsSame(l.shared), Receipt: found.Receipt(record)})
	}
	return found, read, nil
}

// byReceipt is prove without reading anything. A package in Target may consist
// of hard links to the cache's files. Its own receipt doesn't hold any more
// when another directory has linked the same files, because that changes their
// status; the cache's receipt was renewed then.
func (l looker) byReceipt(at store.View, name string) (receipt.Provenance, bool) {
	if l.in.Fetcher.Verify {
		return receipt.Provenance{}, false
	}
	if found, ok := at.Known(name); ok {
		return found.Claims(), true
	}
	if !at.IsSame(l.target) {
		return receipt.Provenance{}, false
	}
	found, ok := at.LinkedFrom(l.shared, name)
	return found.Claims(), ok
}

// isOfCachedFiles reports whether a package in Target, which has to be read,
// consists of the very files that the cache has, by hard links. To read those
// there gives the cache a receipt again, which serves all directories that have
// them.
func (l looker) isOfCachedFiles(t fetcher.Request) bool {
	if l.in.Fetcher.Verify || !l.shared.HasReceipts() {
		return false
	}
	here, err := receipt.TakeRecord(l.in.packagePath(t.Provider, t.Version))
	if err != nil {
		return false
	}
	there, err := receipt.TakeRecord(l.in.cachePath(t.Selection))
	return err == nil && here.SameFiles(there)
}

// read hashes a package. The record is of the status that its files had before.
func (in *Installer) read(ctx context.Context, s resolve.Selection, at store.View) (getproviders.Hash, receipt.StatRecord, error) {
	dir := at.Path(in.packageName(s))
	began := in.Fetcher.Time()
	record, _ := receipt.TakeRecord(dir)
	record.ReadFrom = began
	in.Fetcher.Emit(ctx, event.HashingEvent{Addr: s.Provider, Version: s.Version, Dir: dir})
	h1, err := getproviders.HashDir(ctx, dir)
	return h1, record, err
}
