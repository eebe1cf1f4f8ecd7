package getproviders

import (
	"fmt"
	"runtime"
	"strings"
)

// Platform is an operating system and an architecture, in Go's names. It is
// comparable and a good map key.
type Platform struct{ OS, Arch string }

// ParsePlatform reads "os_arch": two words of ASCII letters and digits. Whether
// there is such a platform is for a source to know.
func ParsePlatform(given string) (Platform, error) {
	os, arch, _ := strings.Cut(given, "_")
	if !isWord(os) || !isWord(arch) {
		return Platform{}, fmt.Errorf("invalid platform %q: must be an operating system and an architecture such as \"linux_amd64\"", given)
	}
	return Platform{OS: os, Arch: arch}, nil
}

// Validate returns an error for a platform that ParsePlatform doesn't return, the zero
// Platform among them. Only what is valid may become a path or part of a URL.
func (p Platform) Validate() error {
	_, err := ParsePlatform(p.String())
	return err
}

func isWord(s string) bool {
	for _, c := range []byte(s) {
		if !isAlphanumeric(c) {
			return false
		}
	}
	return s != ""
}

// CurrentPlatform is the platform that this program was built for.
func CurrentPlatform() Platform {
	return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
}

// String returns "os_arch".
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// MarshalText returns String, or nothing for the zero Platform, so that
// platforms can be JSON strings and keys.
func (p Platform) MarshalText() ([]byte, error) {
	if p == (Platform{}) {
		return nil, nil
	}
	return []byte(p.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (p *Platform) UnmarshalText(text []byte) (err error) {
	*p = Platform{}
	if len(text) > 0 {
		*p, err = ParsePlatform(string(text))
	}
	return err
}

// Compare orders platforms by their text.
func (p Platform) Compare(o Platform) int { return strings.Compare(p.String(), o.String()) }
