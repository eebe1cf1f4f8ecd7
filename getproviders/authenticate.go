package getproviders

import (
	"fmt"
	"slices"
	"strings"
)

// AnyHash authenticates a package by a list of hashes of which at least one has to
// match, as a network mirror gives them: that is LevelVerifiedChecksum, because
// they are unsigned. Hashes of unknown schemes match nothing. An empty
// list lets nothing pass; where there are no hashes there is nothing to
// authenticate by.
type AnyHash []Hash

// Authenticate implements Authenticator. An error is a *ChecksumError. An h1
// may be that of the unpacked files or that of the archive's entries, which
// differ where an archive lists its directories.
func (a AnyHash) Authenticate(d Digests) (AuthenticationResult, error) {
	found := d.hashes()
	for _, expected := range a {
		if expected.Supported() && slices.Contains(found, expected) {
			return AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, nil
		}
	}
	return AuthenticationResult{}, &ChecksumError{Expected: slices.Clone(a), Found: found}
}

// hashes lists what is known of the package. A directory has no zh: its zero
// digest must match nothing.
func (d Digests) hashes() []Hash {
	var known []Hash
	if d.H1 != "" {
		known = append(known, d.H1)
	}
	if d.H1Archive != "" && d.H1Archive != d.H1 {
		known = append(known, d.H1Archive)
	}
	if d.SHA256 != ([32]byte{}) {
		known = append(known, ZH(d.SHA256))
	}
	return known
}

// Trust is the Trust of a package whose source lists these hashes, and of which
// nothing else is known. That of an empty list is zero.
func (a AnyHash) Trust() Trust {
	if len(a) == 0 {
		return Trust{}
	}
	return Trust{Authenticator: a, ExpectedSHA256: a.sha256(), ListedHashes: a.supported()}
}

func (a AnyHash) supported() []Hash {
	return slices.DeleteFunc(slices.Clone(a), func(h Hash) bool { return !h.Supported() })
}

// sha256 is the one zh of the list; zero if there is none, or more than one.
func (a AnyHash) sha256() (sum [32]byte) {
	known := false
	for _, h := range a {
		decoded, isZH := h.sha256()
		if isZH && known && decoded != sum {
			return [32]byte{}
		}
		if isZH {
			sum, known = decoded, true
		}
	}
	return sum
}

// ChecksumError says that a package has none of the checksums that it should
// have. It matches ErrAuthentication.
type ChecksumError struct {
	Expected []Hash // one of these
	Found    []Hash // what the package has
}

// Error implements error.
func (e *ChecksumError) Error() string {
	if !slices.ContainsFunc(e.Expected, Hash.Supported) {
		return fmt.Sprintf("no checksum of a known scheme (h1 or zh) to check the package by, only: %s", joinHashes(e.Expected))
	}
	expected := slices.DeleteFunc(slices.Clone(e.Expected), func(h Hash) bool { return !h.Supported() })
	if len(expected) == 1 { // then its scheme is the only one of interest
		for _, found := range e.Found {
			if found.Scheme() == expected[0].Scheme() {
				return fmt.Sprintf("the package has checksum %s, expected %s", found, expected[0].printable())
			}
		}
	}
	return fmt.Sprintf("the package has checksum %s, expected any of: %s", joinHashes(e.Found), joinHashes(expected))
}

// Code is "checksum_mismatch".
func (e *ChecksumError) Code() string { return "checksum_mismatch" }

// Is reports whether target is ErrAuthentication.
func (e *ChecksumError) Is(target error) bool { return target == ErrAuthentication }

// Hint says what may be the cause.
func (e *ChecksumError) Hint() string {
	if !slices.ContainsFunc(e.Expected, Hash.Supported) {
		return "a newer version may know these; else tell those who run the source to name an h1 or zh checksum"
	}
	return "the package was damaged or replaced on its way, or where it is kept; if it happens again, tell those who run the source"
}

// ChecksumListError says that a checksum list and the registry's description
// of a package disagree about the archive. It matches ErrAuthentication.
type ChecksumListError struct {
	FileName string // of the archive
	Expected Hash   // from the description
	Found    string // from the list, as it stands there; "" if it isn't listed
	Mirror   bool   // the list lies in a mirror, and Expected is what the archive there has
}

// Error implements error.
func (e *ChecksumListError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("the checksum list has no SHA-256 for %q, expected %s", e.FileName, e.Expected)
	}
	// What a registry sends may be long and no hash at all.
	return fmt.Sprintf("the checksum list has %.80q for %q, expected %s", e.Found, e.FileName, e.Expected)
}

// Code is "checksum_list_mismatch".
func (e *ChecksumListError) Code() string { return "checksum_list_mismatch" }

// Is reports whether target is ErrAuthentication.
func (e *ChecksumListError) Is(target error) bool { return target == ErrAuthentication }

// Hint says who can help.
func (e *ChecksumListError) Hint() string {
	if e.Mirror {
		return "the mirror has the checksum list of another version or another provider there: " +
			"tell those who run it to remove that, or to fill the mirror again"
	}
	return "what the registry says about this package contradicts itself: tell the provider's publisher"
}

// UnknownIssuerError says that a checksum list is signed by none of the keys
// that the registry names. It matches ErrAuthentication.
type UnknownIssuerError struct {
	Issuer string   // ID of the key that the signature says it is by; "" if it doesn't say
	Keys   []string // IDs of the keys that the registry names
	List   string   // the URL of the checksum list; "" if it isn't known
}

// Error implements error.
func (e *UnknownIssuerError) Error() string {
	issuer, keys := "a signature by key "+e.Issuer, strings.Join(e.Keys, ", ")
	if e.Issuer == "" {
		issuer = "no signature"
	}
	if keys == "" {
		keys = "none"
	}
	return fmt.Sprintf("the checksum list has %s, from an unknown issuer; keys that the registry names: %s", issuer, keys)
}

// Code is "unknown_signer".
func (e *UnknownIssuerError) Code() string { return "unknown_signer" }

// Is reports whether target is ErrAuthentication.
func (e *UnknownIssuerError) Is(target error) bool { return target == ErrAuthentication }

// Hint says who can help.
func (e *UnknownIssuerError) Hint() string {
	return "don't use the package: the registry doesn't list this key. Ask the provider's publisher; if the key is theirs, they have to add it to the registry" + listAt(e.List)
}

// SignatureError says that a signature is not valid, or that it or a key can't
// be read. It matches ErrAuthentication.
type SignatureError struct {
	Subject string // what was being checked: "the signature of the checksum list"
	KeyID   string // of the key that it says it is by; "" if it isn't known
	List    string // the URL of the checksum list; "" if it isn't known
	Err     error
}

// Error implements error.
func (e *SignatureError) Error() string { return fmt.Sprintf("can't verify %s: %s", e.Subject, e.Err) }

// Unwrap returns the cause.
func (e *SignatureError) Unwrap() error { return e.Err }

// Hint says what it means, and who can help.
func (e *SignatureError) Hint() string {
	text := "the checksum list or its signature"
	if e.KeyID != "" {
		text += " by key " + e.KeyID
	}
	return text + " was changed on its way, or was published wrongly. Don't use the package; if it happens again, tell the provider's publisher" + listAt(e.List)
}

// listAt says where a checksum list is.
func listAt(url string) string {
	if url == "" {
		return ""
	}
	return ". The checksum list is at " + url
}

// Code is "invalid_signature".
func (e *SignatureError) Code() string { return "invalid_signature" }

// Is reports whether target is ErrAuthentication.
func (e *SignatureError) Is(target error) bool { return target == ErrAuthentication }

// maxPrintedHashes is how many hashes a message repeats.
const maxPrintedHashes = 10

func joinHashes(hashes []Hash) string {
	if len(hashes) == 0 {
		return "none"
	}
	var texts []string
	for i, h := range hashes {
		if i == maxPrintedHashes {
			texts = append(texts, fmt.Sprintf("and %d more", len(hashes)-i))
			break
		}
		texts = append(texts, h.printable())
	}
	return strings.Join(texts, ", ")
}

// printable returns a hash as messages repeat it: whole if it is one. What a mirror
// sends may also be endless, or meant for a terminal.
func (h Hash) printable() string {
	quoted := fmt.Sprintf("%.80q", string(h))
	return quoted[1 : len(quoted)-1]
}
