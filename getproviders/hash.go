package getproviders

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tfdeps/tfdeps/internal/hashing"
)

// Hash is a checksum of a provider package with its scheme: "h1:..." or
// "zh:...". Hashes are compared as strings. There may be hashes of other
// schemes, from tools that are newer than this one; they match nothing.
type Hash string

// ParseHash accepts anything of the form scheme:value. Only the scheme has to
// have a character; what the value looks like is for each scheme to say, and a
// value that is malformed just doesn't match.
func ParseHash(given string) (Hash, error) {
	if strings.Index(given, ":") < 1 || !utf8.ValidString(given) {
		return "", fmt.Errorf("invalid hash %q: it must have a scheme, a colon and a value, in UTF-8", given)
	}
	return Hash(given), nil
}

// Scheme returns what stands before the first colon, or "" if there is none.
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

// isH1 reports whether a hash is what H1 makes: 32 bytes in base64, in the one
// way to write them.
func isH1(h Hash) bool {
	text, ok := strings.CutPrefix(string(h), hashing.H1+":")
	sum, err := base64.StdEncoding.DecodeString(text)
	return ok && err == nil && len(sum) == 32 && base64.StdEncoding.EncodeToString(sum) == text
}

// printable returns a hash as messages repeat it: whole if it is one. What a mirror
// sends may also be endless, or meant for a terminal.
func (h Hash) printable() string {
	quoted := fmt.Sprintf("%.80q", string(h))
	return quoted[1 : len(quoted)-1]
}
