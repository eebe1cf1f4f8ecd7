package receipt

import (
	"context"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
)

// Pending is a package that has been published and is to get a receipt.
type Pending struct {
	Name, Dir string
	// Receipt is the one to be, with the record of when the bytes were known: of
	// where the package was unpacked and no other user could change it, or from
	// before it was hashed. In that case ReadFrom says from when: a package that was
	// changed shortly before may have changed again without its times showing it.
	Receipt Receipt
	// Shared: it is in the cache, and not in Target.
	Shared bool
	// Linked: hard links to its files have been made since, which sets their
	// ctime. The record has to be one that was known to be right just before, and the
	// package's file lock held from then until Save is done.
	Linked bool
	// Archive: Dir is an archive in a mirror and no directory.
	Archive bool
}

// record takes the record of what is in the place.
func (p Pending) record() (StatRecord, error) {
	if p.Archive {
		return RecordArchive(p.Dir)
	}
	return TakeRecord(p.Dir)
}

// Record makes receipts for packages at the end of a run. If a file or directory was
// changed within the last 20 ms, it waits that long, so that a later change has another
// time and the next run needs no hashing.
//
// A package that isn't what it was when its bytes were known gets none, but for
// the ctime of its directory, which the rename to its place has set, and with
// Linked those of its files. When ctx ends, no receipts are made; Save writes
// them.
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

// dropOther drops the receipt of a package if it says that the package has
// another hash. One that says the same proves nothing about what is there now,
// but still tells what such a package is and came from: it may be there again,
// or another process may be about to renew the receipt.
func (r *Receipts) dropOther(name string, h1 getproviders.Hash) {
	if there, ok := r.Find(name); !ok || there.H1 != h1 {
		r.File.Remove(name)
	}
}

// isWhatItWas reports whether the package is what it was when its bytes were
// known.
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

// recordAll takes the records of all packages; one that can't be taken is
// empty. The time is before all of them: what changes later has a later ctime.
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
