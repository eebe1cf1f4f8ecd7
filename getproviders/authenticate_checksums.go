package getproviders

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/internal/hashing"
)

// signedChecksums authenticates a package from a registry, or from a mirror that has the registry's documents. There is, for each
// version of a provider, one SHA256SUMS document about the archives of all
// platforms and one signature over that document.
type signedChecksums struct {
	FileName   string      // of the archive in SHA256SUMS, as the registry's description of the package says
	SHA256     [32]byte    // of the archive, as that description says; in a mirror as Sums say: zero if they don't
	Sums       []byte      // SHA256SUMS
	sumsURL    string      // where Sums come from, for errors; "": not known
	Signature  []byte      // over Sums: OpenPGP, detached, binary
	PublicKeys []PublicKey // one of these has to have signed; they are tried in this order
	Keys       signingKeys // what makes the trust level higher than LevelCommunity
	Keyless    bool        // if there are no PublicKeys, no signature is needed
	Expiry     expiry      // whether keys and signatures may have expired

	verified AuthenticationResult // what checkSignature has found already; zero: it wasn't called

	// PackageHashes are what the description says of the hashes of the version's
	// packages, and Platform is that of the archive. They decide nothing in
	// Authenticate: see Trust.RegistryHashes.
	PackageHashes map[Platform][]Hash
	Platform      Platform
}

// trust is the Trust of a package that is authenticated by this. Listed are what
// registryHashes has for the package, and the zh that its description has.
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

// checksumList is a SHA256SUMS document: its lines, without those that are
// blank.
type checksumList []checksumLine

// checksumLine is a line "HASH  NAME"; either may be missing or anything else.
type checksumLine struct{ hash, name string }

// parseChecksums reads a document in the form that sha256sum prints. It takes
// any: what a line is good for is decided where it is used. "*", by which
// sha256sum marks binary mode, isn't understood: "*name" is another name.
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

// find returns the hash of the first line with the name, and what that line has in its place; of each "" if there is none.
func (l checksumList) find(name string) (zh Hash, listed string) {
	i := slices.IndexFunc(l, func(line checksumLine) bool { return line.name == name })
	if i < 0 || name == "" {
		return "", ""
	}
	zh, _ = l[i].zh()
	return zh, l[i].hash
}

// hashes returns the hashes of all files. One line that isn't a checksum makes
// it doubtful that the others are: then there are none. Blank lines are no
// lines, though Terraform crashes on them.
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

// zh returns the line's hash in the lower case that lock files have.
func (l checksumLine) zh() (zh Hash, ok bool) {
	sum, ok := Hash(hashing.ZH + ":" + l.hash).SHA256()
	if !ok {
		return "", false
	}
	return ZH(sum), true
}

// registryHashes are those of PackageHashes that fit the checksum list.
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

// platforms returns the hashes of a version's archives. Their names differ from
// that of one of them, which is for the platform own, in the platform only.
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

// h1Beside returns the h1 among hashes that are listed for the archive zh. Another zh
// makes all of them doubtful, and so does a second h1, as no archive has two.
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
