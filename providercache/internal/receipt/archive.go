package receipt

import (
	"cmp"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/owner"
)

// RecordArchive is TakeRecord for an archive. Links are refused.
func RecordArchive(path string) (StatRecord, error) {
	system, err := fileSystemOf(path)
	if err != nil {
		return StatRecord{}, err
	}
	stat, err := Lstat(path)
	switch {
	case err != nil:
		return StatRecord{}, err
	case !system.Local || !owner.Exclusive(path) || !stat.Mode.IsRegular():
		return StatRecord{}, fmt.Errorf("%s: %w", path, errNotRecordable)
	}
	stat.Name = "."
	return StatRecord{FileSystem: system.ID, Entries: []StatEntry{stat.StatEntry}}, nil
}

// ArchiveH1 is the h1 that Terraform and OpenTofu record for the archive.
func (r Receipt) ArchiveH1() getproviders.Hash { return cmp.Or(r.H1Archive, r.H1) }

// Has reports whether a hash is one of the archive's.
func (r Receipt) Has(h getproviders.Hash) bool { return h == r.ZH || h == r.H1 || h == r.ArchiveH1() }

// ArchiveReceipts are the receipts for the archives of a mirror. They are kept apart
// from those for directories, because a mirror doesn't count as a user of packages.
type ArchiveReceipts struct{ *Receipts }

// OpenArchives is Open for a mirror.
func OpenArchives(state, root string) ArchiveReceipts {
	about, err := Resolved(root)
	if err != nil {
		state = ""
	}
	r := newReceipts(Below(state, mirrorsDir), ReceiptsName(about), about, UsersOwn)
	r.StrictTimes = true // tfdeps makes no links to archives
	return ArchiveReceipts{r}
}

// mirrorsDir is the directory below the user's state directory.
const mirrorsDir = "mirrors"
