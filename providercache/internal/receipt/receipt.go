// Package receipt records which packages were verified, so that later runs know their
// hashes without reading their files.
//
//	receipts := receipt.Open(stateDir, root)
//	if known, ok := receipts.Known(name, dir, time.Now()); ok {
//		// the package in dir has known.H1, and passed what known.Claims() says
//	}
//
// A [Receipt] holds the hashes of a package, how it was authenticated, and a
// [StatRecord]: what the file system says of each of its files. It counts as long as
// the package has the same record; own.go and stat_record.go say why that is proof,
// and on which file systems. [Receipts.Record] makes receipts at the end of a run,
// Save writes them.
//
// Receipts are in the user's state directory, except those of a cache that is part of
// an image, which are beside it: see image.go. [Contents] records the hashes of what
// archives contain, by the archives' checksums.
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

// Receipt says what is known of a package that is on disk, so that its files
// needn't be read again to know it. It holds as long as its Record does.
type Receipt struct {
	Provenance // receipts of older versions have no FromRegistry and no RegistryHashes

	Signed     []getproviders.Hash     `json:"signed,omitempty"` // as Provenance.Authentication has them, like TrustLevel and KeyID
	TrustLevel getproviders.TrustLevel `json:"tier,omitempty"`
	KeyID      string                  `json:"key,omitempty"`

	Taken  time.Time  `json:"taken,omitzero"` // before Record was taken
	Record StatRecord `json:"record"`

	seen []PathStat // by Known, for each entry of Record: as the package is now
}

func encodeReceipt(rc Receipt) []byte {
	encoded, err := json.Marshal(rc)
	if err != nil { // a year of five digits
		return nil
	}
	return encoded
}

var errNoReceipt = errors.New("this is no receipt")

// decodeReceipt reads what encodeReceipt wrote. Names that lead out of the
// package are refused: they are going to be looked at.
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

// Provenance is what is known of a package that passed all checks, or of one that
// exists already. For a package that was only hashed, it is H1 alone.
type Provenance struct {
	Authentication getproviders.AuthenticationResult `json:"-"`
	H1             getproviders.Hash                 `json:"h1"`
	H1Archive      getproviders.Hash                 `json:"h1a,omitempty"`    // as getproviders.Digests has it, if that is known and isn't H1; else ""
	ZH             getproviders.Hash                 `json:"zh,omitempty"`     // of the archive that it was unpacked from; "" if there was none, or it isn't known
	Origin         string                            `json:"origin,omitempty"` // as getproviders.Package has it, like FromRegistry; compared, never read
	FromRegistry   bool                              `json:"registry,omitempty"`
	ArchiveBytes   int64                             `json:"bytes,omitempty"`   // 0: not known
	Files          int                               `json:"-"`                 // how many the package has, directories not among them; 0: not known
	Released       time.Time                         `json:"released,omitzero"` // when the archive was changed last, as its server says, or was first fetched; zero: not known

	RegistryHashes map[getproviders.Platform]getproviders.Hash `json:"told,omitempty"` // that the provider's registry lists for other platforms
}

// Hash is the one that a package is known by: that of its archive, or where it has none, that of its files.
func (g Provenance) Hash() getproviders.Hash { return cmp.Or(g.ZH, g.H1) }

// Receipt returns the receipt that records it.
func (g Provenance) Receipt(record StatRecord) Receipt {
	return Receipt{Provenance: g, Signed: g.Authentication.Signed, TrustLevel: g.Authentication.TrustLevel, KeyID: g.Authentication.KeyID, Record: record}
}

// ErrIncomplete says that files of a package are gone that it had when it was hashed.
var ErrIncomplete = errors.New("files of the package were deleted while it was being installed: run the command again")

// CompleteRecord takes the record of a directory that has just been made of the package. A record of fewer files would
// count as one of the whole package from then on.
func (g Provenance) CompleteRecord(dir string) (StatRecord, error) {
	record, err := TakeRecord(dir)
	if err == nil && g.Files > 0 && record.files() != g.Files {
		return StatRecord{}, fmt.Errorf("%s: %w", dir, ErrIncomplete)
	}
	return record, nil // without a record, the package is hashed each time
}

// Claims is what a receipt says of its package.
func (r Receipt) Claims() Provenance {
	g := r.Provenance
	g.Authentication = getproviders.AuthenticationResult{TrustLevel: r.TrustLevel, KeyID: r.KeyID, Signed: r.Signed}
	g.Files = r.Record.files()
	return g
}
