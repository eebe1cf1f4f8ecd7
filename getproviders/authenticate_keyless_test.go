package getproviders_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
)

// TestAuthenticate_PackagesWithoutKeys: where a registry may name no key, its checksum list is
// enough, and less than that isn't.
func TestAuthenticate_PackagesWithoutKeys(t *testing.T) {
	sum := sha256.Sum256([]byte("archive"))
	c := getproviders.SignedChecksums{
		FileName: "a.zip", SHA256: sum, Sums: fmt.Appendf(nil, "%x  a.zip\n", sum), Keyless: true,
	}
	got, err := c.Authenticate(getproviders.Digests{SHA256: sum})
	if err != nil || got.TrustLevel != getproviders.LevelVerifiedChecksum || len(got.Signed) != 1 || len(got.Notes) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := c.Authenticate(getproviders.Digests{SHA256: sha256.Sum256([]byte("another"))}); !errors.Is(err, getproviders.ErrAuthentication) {
		t.Errorf("another archive: %v", err)
	}
	named := c
	named.PublicKeys = []getproviders.PublicKey{{Armored: "no key"}}
	if _, err := named.Authenticate(getproviders.Digests{SHA256: sum}); err == nil {
		t.Error("a key is named, and isn't asked for")
	}
	c.Keyless = false
	if _, err := c.Authenticate(getproviders.Digests{SHA256: sum}); !errors.Is(err, getproviders.ErrAuthentication) {
		t.Errorf("where a key is needed: %v", err)
	}
}
