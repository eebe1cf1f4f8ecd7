package receipt

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// HeldBy returns the receipt of a package of the cache if the package in dir,
// which has a receipt of its own among these, consists of its files by hard
// links, and they are what the cache's receipt says. The package's own receipt
// proves what its directories hold, so they needn't be listed; the cache's receipt
// proves its files, whose ctime changes whenever they are linked.
func (r *Receipts) HeldBy(shared Receipt, name, dir string, now time.Time) (Receipt, bool) {
	own, ok := r.Find(name)
	if !ok {
		return Receipt{}, false
	}
	record, ok := own.Record.withFilesOf(shared.Record)
	if !ok {
		return Receipt{}, false
	}
	device, ok := record.check(dir)
	return shared, ok && owner.Exclusive(dir) && r.areOwn(record.Entries) && r.proves(own, device, dir, now) && r.proves(shared, device, dir, now)
}

// withFilesOf returns the record with the files of another one, if they are the
// same but for their ctimes.
func (r StatRecord) withFilesOf(other StatRecord) (StatRecord, bool) {
	if r.FileSystem != other.FileSystem || len(r.Entries) != len(other.Entries) {
		return StatRecord{}, false
	}
	r.Entries = slices.Clone(r.Entries)
	for i, theirs := range other.Entries {
		own := &r.Entries[i]
		if !own.Mode.IsRegular() && !theirs.Mode.IsRegular() && own.Name == theirs.Name {
			continue
		}
		if own.Changed = theirs.Changed; *own != theirs {
			return StatRecord{}, false
		}
	}
	return r, true
}
