package getproviders

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/internal/hashing"
)

// Hash is a checksum of a provider package with its scheme: "h1:..." or "zh:...". Hashes are
// compared as strings. Newer tools may write hashes of other schemes, which match nothing.
type Hash string

// ParseHash accepts any text of the form scheme:value with a non-empty scheme. It doesn't check the
// value: a malformed value matches nothing.
func ParseHash(given string) (Hash, error) {
	if strings.Index(given, ":") < 1 || !utf8.ValidString(given) {
		return "", fmt.Errorf("invalid hash %q: it must have a scheme, a colon and a value, in UTF-8", given)
	}
	return Hash(given), nil
}

// Scheme returns the part before the first colon, or "" without a colon.
func (h Hash) Scheme() string {
	scheme, _, found := strings.Cut(string(h), ":")
	if !found {
		return ""
	}
	return scheme
}

// Supported reports whether the scheme is a known one.
func (h Hash) Supported() bool {
	scheme := h.Scheme()
	return scheme == hashing.H1 || scheme == hashing.ZH
}

// ZH returns the hash of an archive with this SHA-256.
func ZH(sum [32]byte) Hash {
	return Hash(hashing.ZH + ":" + hex.EncodeToString(sum[:]))
}

// SHA256 is the inverse of ZH. ok is false for a hash of another scheme.
func (h Hash) SHA256() (sum [32]byte, ok bool) {
	text, isZH := strings.CutPrefix(string(h), hashing.ZH+":")
	decoded, err := hex.DecodeString(text)
	if !isZH || err != nil || len(decoded) != len(sum) {
		return sum, false
	}
	return [32]byte(decoded), true
}

// isH1 reports whether h is a well-formed h1: 32 bytes in canonical base64.
func isH1(h Hash) bool {
	text, ok := strings.CutPrefix(string(h), hashing.H1+":")
	sum, err := base64.StdEncoding.DecodeString(text)
	return ok && err == nil && len(sum) == 32 && base64.StdEncoding.EncodeToString(sum) == text
}

// printable returns a hash for messages, quoted and cut to a length: a mirror may send endless
// text, or control characters.
func (h Hash) printable() string {
	quoted := fmt.Sprintf("%.80q", string(h))
	return quoted[1 : len(quoted)-1]
}
