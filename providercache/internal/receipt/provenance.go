package receipt

import (
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Provenance is what is known of a package that passed all checks, or of one that
// exists already. For a package that was only hashed, it is H1 alone.
type Provenance struct {
	Authentication getproviders.AuthenticationResult
	H1             getproviders.Hash
	H1Archive      getproviders.Hash // as getproviders.Digests has it, if that is known and isn't H1; else ""
	ZH             getproviders.Hash // of the archive that it was unpacked from; "" if there was none, or it isn't known
	Origin         string            // as getproviders.Package has it
	ArchiveBytes   int64             // 0: not known
	Released       time.Time         // when the archive was changed last, as its server says, or was first fetched; zero: not known

	RegistryHashes map[getproviders.Platform]getproviders.Hash // that the provider's registry lists for other platforms
}

// Receipt returns the receipt that records it.
func (g Provenance) Receipt(record StatRecord) Receipt {
	return Receipt{
		H1: g.H1, ZH: g.ZH, Signed: g.Authentication.Signed, TrustLevel: g.Authentication.TrustLevel, KeyID: g.Authentication.KeyID,
		Origin: g.Origin, ArchiveBytes: g.ArchiveBytes, Released: g.Released, Record: record, H1Archive: g.H1Archive, RegistryHashes: g.RegistryHashes,
	}
}

// Claims is what a receipt says of its package.
func (r Receipt) Claims() Provenance {
	return Provenance{
		Authentication: getproviders.AuthenticationResult{TrustLevel: r.TrustLevel, KeyID: r.KeyID, Signed: r.Signed},
		H1:             r.H1, H1Archive: r.H1Archive, ZH: r.ZH, Origin: r.Origin, ArchiveBytes: r.ArchiveBytes, Released: r.Released, RegistryHashes: r.RegistryHashes,
	}
}
