package archivedir

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// archiveSum is the checksum that a zh hash stands for.
func ArchiveSum(zh getproviders.Hash) (sum [sha256.Size]byte, ok bool) {
	decoded, err := hex.DecodeString(strings.TrimPrefix(string(zh), getproviders.SchemeZH+":"))
	if zh.Scheme() != getproviders.SchemeZH || err != nil || len(decoded) != len(sum) {
		return sum, false
	}
	return [sha256.Size]byte(decoded), true
}
