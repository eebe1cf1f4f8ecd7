package receipt

import (
	"context"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Pending is a published package that is to get a receipt.
type Pending struct {
	Name, Dir string
	// Receipt is the receipt to write. Its record is from when the bytes were known:
	// from the unpacking, if no other user could change the package, or from before
	// it was hashed. Then ReadFrom is that time, because a package that was changed
	// shortly before may have changed again with the same times.
	Receipt Receipt
	// Shared says that the package is in the cache, not in Target.
	Shared bool
	// Linked says that hard links to its files have been made since, which sets
	// their ctime. The record has to be one that was right just before, and the
	// package's file lock has to be held from then until Save is done.
	Linked bool
	// Archive says that Dir is an archive in a mirror.
	Archive bool
}

// record takes the record of the package or archive at Dir.
func (p Pending) record() (StatRecord, error) {
	if p.Archive {
		return RecordArchive(p.Dir)
	}
	return TakeRecord(p.Dir)
}

// Record makes receipts for packages at the end of a run. If a file or
// directory was changed within the last 20 ms, it waits that long, so that a
// later change has another time and the next run needs no hashing.
//
// A package that has changed since its bytes were known gets no receipt. The ctime
// of its directory may differ, because the rename sets it, and with Linked those of
// its files. When ctx ends, no receipts are made; Save writes them.
func (r *Receipts) Record(ctx context.Context, now func() time.Time, packages ...Pending) {
	taken, records := recordAll(now, packages)
	if r.young(taken, records) {
		if par.Pause(ctx, fineGranule+time.Millisecond) != nil {
			return
		}
		taken, records = recordAll(now, packages)
	}
	for i, p := range packages {
		if len(records[i].Entries) == 0 || !r.isWhatItWas(p, records[i]) {
			r.dropOther(p.Name, p.Receipt.H1)
			continue
		}
		p.Receipt.Taken, p.Receipt.Record = taken, records[i]
		r.Put(p.Name, p.Receipt)
	}
}

// dropOther drops the receipt of a package if it has another hash. A receipt with the same hash
// doesn't prove anything about the current files, but still has the provenance of such a
// package: it may be there again, or another process may be about to renew the receipt.
func (r *Receipts) dropOther(name string, h1 getproviders.Hash) {
	if there, ok := r.Find(name); !ok || there.H1 != h1 {
		r.File.Remove(name)
	}
}

// isWhatItWas reports whether the package is unchanged since its bytes were known.
func (r *Receipts) isWhatItWas(p Pending, now StatRecord) bool {
	before := p.Receipt.Record
	if !before.withoutChanged(p.Linked).equal(now.withoutChanged(p.Linked)) {
		return false
	}
	if before.ReadFrom.IsZero() {
		return true
	}
	if p.Archive && !before.equal(now) {
		return false
	}
	system, err := fileSystemOf(p.Dir)
	return err == nil && before.settled(before.ReadFrom, system.Granule, r.ctimesCount(before.Entries))
}

// recordAll takes the records of all packages; a record that can't be taken is
// empty. taken is before all of them, so that later changes have later ctimes.
func recordAll(now func() time.Time, packages []Pending) (taken time.Time, records []StatRecord) {
	taken = now()
	for _, p := range packages {
		record, err := p.record()
		if err != nil {
			record = StatRecord{}
		}
		records = append(records, record)
	}
	return taken, records
}

func (r *Receipts) young(taken time.Time, records []StatRecord) bool {
	for _, record := range records {
		if !record.settled(taken, fineGranule, r.ctimesCount(record.Entries)) {
			return true
		}
	}
	return false
}
