package providercache

import (
	"slices"
	"time"

	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// heldBy returns the receipt of a package of the cache if the package in dir,
// which has a receipt of its own among these, consists of its files by hard
// links, and they are what the cache's receipt says. The package's own receipt
// vouches for its directories, so they needn't be listed; the cache's for the
// files, whose status changes whenever anybody links them.
func (r *receipts) heldBy(shared receipt, name, dir string, now time.Time) (receipt, bool) {
	own, ok := r.find(name)
	if !ok {
		return receipt{}, false
	}
	record, ok := own.Record.withFilesOf(shared.Record)
	if !ok {
		return receipt{}, false
	}
	device, ok := record.check(dir)
	return shared, ok && owner.Exclusive(dir) && r.areOwn(record.Entries) && r.vouches(own, device, dir, now) && r.vouches(shared, device, dir, now)
}

// withFilesOf returns the record with the files of another one, if they are the
// same but for their ctimes.
func (r statRecord) withFilesOf(other statRecord) (statRecord, bool) {
	if r.FileSystem != other.FileSystem || len(r.Entries) != len(other.Entries) {
		return statRecord{}, false
	}
	r.Entries = slices.Clone(r.Entries)
	for i, theirs := range other.Entries {
		own := &r.Entries[i]
		if !own.Mode.IsRegular() && !theirs.Mode.IsRegular() && own.Name == theirs.Name {
			continue
		}
		if own.Changed = theirs.Changed; *own != theirs {
			return statRecord{}, false
		}
	}
	return r, true
}
