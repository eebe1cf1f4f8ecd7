package getproviders

import (
	"cmp"
	"errors"
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

// Authenticate implements Authenticator. An error matches ErrAuthentication. An h1
// may be that of the unpacked files or that of the archive's entries, which
// differ where an archive lists its directories.
func (a AnyHash) Authenticate(d Digests) (AuthenticationResult, error) {
	found := d.hashes()
	for _, expected := range a {
		if expected.Supported() && slices.Contains(found, expected) {
			return AuthenticationResult{TrustLevel: LevelVerifiedChecksum}, nil
		}
	}
	return AuthenticationResult{}, &checksumError{expected: slices.Clone(a), found: found}
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

// trust is the Trust of a package whose source lists these hashes, and of which
// nothing else is known. That of an empty list is zero.
func (a AnyHash) trust() Trust {
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

// checksumError says that a package has none of the checksums that it should
// have. It matches ErrAuthentication.
type checksumError struct {
	expected []Hash // one of these
	found    []Hash // what the package has
}

// Error implements error.
func (e *checksumError) Error() string {
	if !slices.ContainsFunc(e.expected, Hash.Supported) {
		return fmt.Sprintf("no checksum of a known scheme (h1 or zh) to check the package by, only: %s", joinHashes(e.expected))
	}
	expected := slices.DeleteFunc(slices.Clone(e.expected), func(h Hash) bool { return !h.Supported() })
	if len(expected) == 1 { // then its scheme is the only one of interest
		for _, found := range e.found {
			if found.Scheme() == expected[0].Scheme() {
				return fmt.Sprintf("the package has checksum %s, expected %s", found, expected[0].printable())
			}
		}
	}
	return fmt.Sprintf("the package has checksum %s, expected any of: %s", joinHashes(e.found), joinHashes(expected))
}

// code is "checksum_mismatch".
func (e *checksumError) code() string { return "checksum_mismatch" }

// Is reports whether target is ErrAuthentication.
func (e *checksumError) Is(target error) bool { return target == ErrAuthentication }

// Expects reports whether a hash of a scheme would do.
func (e *checksumError) Expects(scheme string) bool {
	return slices.ContainsFunc(e.expected, func(h Hash) bool { return h.Scheme() == scheme })
}

// hint says what may be the cause.
func (e *checksumError) hint() string {
	if !slices.ContainsFunc(e.expected, Hash.Supported) {
		return "a newer version may know these; else tell those who run the source to name an h1 or zh checksum"
	}
	return "the package was damaged or replaced on its way, or where it is kept; if it happens again, tell those who run the source"
}

// otherChecksum says that a checksum list has not what is expected for an archive; found is "" if the list doesn't have
// it. advice says who can help.
func otherChecksum(fileName string, expected Hash, found, advice string) error {
	err := fmt.Errorf("the checksum list has no SHA-256 for %q, expected %s", fileName, expected)
	if found != "" { // it may be long and no hash at all
		err = fmt.Errorf("the checksum list has %.80q for %q, expected %s", found, fileName, expected)
	}
	return &Fault{Code: "checksum_list_mismatch", Kind: ErrAuthentication, Err: err, Hint: advice}
}

// errUnknownIssuer is within the error of a checksum list that none of the registry's keys signed.
var errUnknownIssuer = errors.New("unknown issuer")

// unknownIssuer says that a checksum list is signed by none of the keys that the registry names.
func (c signedChecksums) unknownIssuer(keys []string) error {
	signature, known := "no signature", cmp.Or(strings.Join(keys, ", "), "none")
	if issuer := issuerOf(c.Signature); issuer != "" {
		signature = "a signature by key " + issuer
	}
	return &Fault{
		Code: "unknown_signer", Kind: ErrAuthentication,
		Err:  fmt.Errorf("the checksum list has %s, from an %w; keys that the registry names: %s", signature, errUnknownIssuer, known),
		Hint: "don't use the package: the registry doesn't list this key. Ask the provider's publisher; if the key is theirs, they have to add it to the registry" + listAt(c.sumsURL),
	}
}

// badSignature says that a signature is not valid, or that it or a key can't be read. Of the key and
// the URL of the checksum list, what isn't known is "".
func badSignature(subject, key, list string, err error) error {
	if key != "" {
		key = " by key " + key
	}
	return &Fault{
		Code: "invalid_signature", Kind: ErrAuthentication, Err: fmt.Errorf("can't verify %s: %w", subject, err),
		Hint: "the checksum list or its signature" + key +
			" was changed on its way, or was published wrongly. Don't use the package; if it happens again, tell the provider's publisher" + listAt(list),
	}
}

// listAt says where a checksum list is.
func listAt(url string) string {
	if url == "" {
		return ""
	}
	return ". The checksum list is at " + url
}

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
