package getproviders

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestAuthenticate_PackagesWithoutKeys: where a registry may name no key, its checksum list is
// enough, and less than that isn't.
func TestAuthenticate_PackagesWithoutKeys(t *testing.T) {
	sum := sha256.Sum256([]byte("archive"))
	c := SignedChecksums{
		FileName: "a.zip", SHA256: sum, Sums: fmt.Appendf(nil, "%x  a.zip\n", sum), Keyless: true,
	}
	got := must.Get(c.Authenticate(Digests{SHA256: sum}))(t)
	must.Equal(t, got.TrustLevel, LevelVerifiedChecksum)
	must.Len(t, got.Signed, 1)
	must.Len(t, got.Notes, 1)
	must.Fail(t, must.ErrorOf(c.Authenticate(Digests{SHA256: sha256.Sum256([]byte("another"))})), ErrAuthentication)
	named := c
	named.PublicKeys = []PublicKey{{Armored: "no key"}}
	must.Refuse(named.Authenticate(Digests{SHA256: sum}))(t, "a key is named, and isn't asked for")
	c.Keyless = false
	must.Fail(t, must.ErrorOf(c.Authenticate(Digests{SHA256: sum})), ErrAuthentication)
}
