package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hashing"
)

// signedChecksums authenticates a package from a registry, or from a mirror that has the registry's documents. Each version of a
// provider has one SHA256SUMS document with the checksums of all platforms' archives, and one signature over that document.
type signedChecksums struct {
	FileName   string      // the archive's name in SHA256SUMS, as the registry's description of the package says
	SHA256     [32]byte    // the archive's checksum in that description; in a mirror the one in Sums, or zero if Sums don't list it
	Sums       []byte      // SHA256SUMS
	sumsURL    string      // URL of SHA256SUMS, for errors; "" if unknown
	Signature  []byte      // over Sums: OpenPGP, detached, binary
	PublicKeys []PublicKey // one of these must have signed; they are tried in this order
	Keys       signingKeys // decides whether the trust level is higher than LevelCommunity
	Keyless    bool        // if there are no PublicKeys, no signature is needed
	Expiry     expiry      // whether expired keys and signatures are accepted

	verified AuthenticationResult // the result of an earlier checkSignature; zero if it wasn't called

	// PackageHashes are the hashes that the description lists for the version's packages, and
	// Platform is the archive's platform. Authenticate doesn't use them: see Trust.RegistryHashes.
	PackageHashes map[Platform][]Hash
	Platform      Platform
}

// trust returns the Trust of a package that c authenticates. ListedHashes are the h1 of
// registryHashes and the zh of the description.
func (c signedChecksums) trust() Trust {
	trust := Trust{
		Authenticator:  c,
		ExpectedSHA256: c.SHA256,
		Documents:      &SignedDocuments{Sums: c.Sums, Signature: c.Signature, Keys: c.PublicKeys},
		RegistryHashes: c.registryHashes(),
	}
	if h1, ok := trust.RegistryHashes[c.Platform]; ok {
		trust.ListedHashes = []Hash{h1, ZH(c.SHA256)}
	}
	return trust
}

// checksumList is a SHA256SUMS document: its lines without the blank ones.
type checksumList []checksumLine

// checksumLine is a line "HASH  NAME". Either part may be missing or malformed.
type checksumLine struct{ hash, name string }

// parseChecksums reads a document in the format of sha256sum. It accepts any line; callers check
// the hashes. It doesn't interpret "*", by which sha256sum marks binary mode: "*name" is a
// different name.
func parseChecksums(document []byte) checksumList {
	var list checksumList
	for line := range strings.Lines(string(document)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) >= 2:
			list = append(list, checksumLine{hash: fields[0], name: fields[1]})
		case len(fields) == 1:
			list = append(list, checksumLine{hash: fields[0]})
		}
	}
	return list
}

// find returns the hash of the first line with the name, and the line's text in place of the hash. Both are "" if no line
// has the name.
func (l checksumList) find(name string) (zh Hash, listed string) {
	i := slices.IndexFunc(l, func(line checksumLine) bool { return line.name == name })
	if i < 0 || name == "" {
		return "", ""
	}
	zh, _ = l[i].zh()
	return zh, l[i].hash
}

// hashes returns the hashes of all files, or nil if any line isn't a checksum, because the other
// lines are doubtful then. Blank lines are ignored; Terraform crashes on them.
func (l checksumList) hashes() []Hash {
	var all []Hash
	for _, line := range l {
		zh, ok := line.zh()
		if !ok || line.name == "" {
			return nil
		}
		all = append(all, zh)
	}
	return all
}

// zh returns the line's hash in lower case, as lock files have it.
func (l checksumLine) zh() (zh Hash, ok bool) {
	sum, ok := Hash(hashing.ZH + ":" + l.hash).SHA256()
	if !ok {
		return "", false
	}
	return ZH(sum), true
}

// registryHashes returns the PackageHashes that agree with the checksum list.
func (c signedChecksums) registryHashes() map[Platform]Hash {
	if len(c.PackageHashes) == 0 {
		return nil
	}
	found := map[Platform]Hash{}
	for plat, zh := range parseChecksums(c.Sums).platforms(c.FileName, c.Platform) {
		if h1, ok := h1Beside(zh, c.PackageHashes[plat]); ok {
			found[plat] = h1
		}
	}
	return found
}

// platforms returns the hashes of a version's archives by platform. name is the name of the archive
// for the platform own; the other archives' names differ from it in the platform only.
func (l checksumList) platforms(name string, own Platform) map[Platform]Hash {
	const suffix = ".zip"
	prefix, ok := strings.CutSuffix(name, own.String()+suffix)
	if !ok {
		return nil
	}
	found := map[Platform]Hash{}
	for _, line := range l {
		rest, isArchive := strings.CutPrefix(line.name, prefix)
		text, isZip := strings.CutSuffix(rest, suffix)
		plat, err := ParsePlatform(text)
		if _, before := found[plat]; !isArchive || !isZip || err != nil || before {
			continue // the first line with a name counts, as in find
		}
		found[plat], _ = line.zh()
	}
	return found
}

// h1Beside returns the h1 among the hashes that are listed for the archive zh. It returns none if
// the hashes contain another zh or a second h1: an archive has one of each.
func h1Beside(zh Hash, hashes []Hash) (h1 Hash, ok bool) {
	for _, h := range hashes {
		switch h.Scheme() {
		case hashing.ZH:
			if sum, isZH := h.SHA256(); !isZH || ZH(sum) != zh {
				return "", false
			}
			ok = true
		case hashing.H1:
			if !isH1(h) || h1 != "" && h1 != h {
				return "", false
			}
			h1 = h
		}
	}
	return h1, ok && h1 != ""
}

// errUnknownIssuer is wrapped by the error for a checksum list that none of the registry's keys
// signed.
var errUnknownIssuer = errors.New("unknown issuer")

// unknownIssuer returns the error for a checksum list that none of the registry's keys signed.
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

// badSignature returns the error for a signature that is invalid, or that can't be read, or whose
// key can't be read. keys are the IDs of the key that it is by, and list the URL of the checksum list; both may be empty.
func badSignature(subject string, keys []string, list string, err error) error {
	by := ""
	if len(keys) > 0 {
		by = " by key " + strings.Join(keys, ", ")
	}
	return &Fault{
		Code: "invalid_signature", Kind: ErrAuthentication, Err: fmt.Errorf("can't verify %s: %w", subject, err),
		Hint: "the checksum list or its signature" + by +
			" was changed on its way, or was published wrongly. Don't use the package; if it happens again, tell the provider's publisher" + listAt(list),
	}
}

// listAt returns a sentence with the checksum list's URL.
func listAt(url string) string {
	if url == "" {
		return ""
	}
	return ". The checksum list is at " + url
}
