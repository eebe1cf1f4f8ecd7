// Package receipt records which packages were verified, so that later runs know their
// hashes without reading their files.
//
//	receipts := receipt.Open(stateDir, root)
//	if known, ok := receipts.Known(name, dir, time.Now()); ok {
//		// the package in dir has known.H1, and passed what known.Claims() says
//	}
//
// A [Receipt] has the hashes of a package, its AuthenticationResult, and a [StatRecord]: the stat of each of its
// files. It counts as long as the package has the same record; own.go and stat_record.go say why that is proof,
// and on which file systems. [Receipts.Record] makes receipts at the end of a run, Save writes them.
//
// Receipts are in the user's state directory, except those of a cache in a container image, which are
// beside the cache: see image.go. [Contents] records the h1 of archives by their checksums.
package receipt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
)

// Receipt records the hashes and provenance of a package on disk, so that its
// files needn't be read again. It holds as long as its Record does.
type Receipt struct {
	Provenance // receipts of older versions have no FromRegistry and no RegistryHashes

	Signed     []getproviders.Hash     `json:"signed,omitempty"` // of Provenance.Authentication, like TrustLevel and KeyID
	TrustLevel getproviders.TrustLevel `json:"tier,omitempty"`
	KeyID      string                  `json:"key,omitempty"`

	Taken  time.Time  `json:"taken,omitzero"` // before Record was taken
	Record StatRecord `json:"record"`

	seen []PathStat // set by Known: the current stat for each entry of Record
}

func encodeReceipt(rc Receipt) []byte {
	encoded, err := json.Marshal(rc)
	if err != nil { // a year of five digits can't be encoded
		return nil
	}
	return encoded
}

var errNoReceipt = errors.New("this is not a receipt")

// decodeReceipt reads what encodeReceipt wrote. It rejects names that
// lead out of the package, because their files get stat calls.
func decodeReceipt(encoded []byte) (Receipt, error) {
	var rc Receipt
	if err := json.Unmarshal(encoded, &rc); err != nil {
		return Receipt{}, err
	}
	if rc.H1.Scheme() != hashing.H1 || len(rc.Record.Entries) == 0 || rc.Record.Entries[0].Name != "." {
		return Receipt{}, errNoReceipt
	}
	for _, entry := range rc.Record.Entries {
		if !fs.ValidPath(entry.Name) {
			return Receipt{}, errNoReceipt
		}
	}
	return rc, nil
}

// Provenance is what is known of a package that passed all checks, or that
// exists already. For a package that was only hashed, only H1 is set.
type Provenance struct {
	Authentication getproviders.AuthenticationResult `json:"-"`
	H1             getproviders.Hash                 `json:"h1"`
	H1Archive      getproviders.Hash                 `json:"h1a,omitempty"`    // see getproviders.Digests; "" if unknown or equal to H1
	ZH             getproviders.Hash                 `json:"zh,omitempty"`     // of the archive that it was unpacked from; "" if none or unknown
	Origin         string                            `json:"origin,omitempty"` // the SourceURL of getproviders.Package; only compared, never opened
	FromRegistry   bool                              `json:"registry,omitempty"`
	ArchiveBytes   int64                             `json:"bytes,omitempty"`   // 0: unknown
	Files          int                               `json:"-"`                 // how many the package has, without directories; 0: unknown
	Released       time.Time                         `json:"released,omitzero"` // when the archive was last modified, according to its server, or was first fetched; zero: unknown
	FirstFetched   bool                              `json:"first,omitempty"`   // Released is when this machine first fetched the archive

	Warnings []string `json:"warnings,omitempty"` // of the registry for the provider's users, when it was last asked for versions

	RegistryHashes map[getproviders.Platform]getproviders.Hash `json:"told,omitempty"` // that the provider's registry lists for other platforms
}

// Hash returns the hash of the package's archive or, if that is unknown, of its files.
func (g Provenance) Hash() getproviders.Hash { return cmp.Or(g.ZH, g.H1) }

// Receipt returns a receipt with the provenance and a record.
func (g Provenance) Receipt(record StatRecord) Receipt {
	return Receipt{Provenance: g, Signed: g.Authentication.Signed, TrustLevel: g.Authentication.TrustLevel, KeyID: g.Authentication.KeyID, Record: record}
}

// ErrIncomplete says that some of a package's files have been deleted since it was hashed.
var ErrIncomplete = errors.New("files of the package were deleted while it was being installed: run the command again")

// CompleteRecord takes the record of a directory that was just made of the package. It checks the number of
// files, because a record of fewer files would pass for one of the whole package from then on.
func (g Provenance) CompleteRecord(dir string) (StatRecord, error) {
	record, err := TakeRecord(dir)
	if err == nil && g.Files > 0 && record.files() != g.Files {
		return StatRecord{}, fmt.Errorf("%s: %w", dir, ErrIncomplete)
	}
	return record, nil // without a record, the package is hashed each time
}

// Claims returns the provenance that a receipt records.
func (r Receipt) Claims() Provenance {
	g := r.Provenance
	g.Authentication = getproviders.AuthenticationResult{TrustLevel: r.TrustLevel, KeyID: r.KeyID, Signed: r.Signed}
	g.Files = r.Record.files()
	return g
}
