package getproviders

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// maxMirroredKeys is how large the keys in a mirror may be: a key takes a few kilobytes.
const maxMirroredKeys = 1 << 20

// readDocument returns the content of the file of that name; nil if there is
// none, or it has more than max bytes, or is no file.
type readDocument = func(ctx context.Context, name string, max int64) ([]byte, error)

// readDocuments gets a version's documents from where they lie under the names of
// the layout (see layout.ChecksumsName). The signature is asked for first; without it
// nothing else is, and the keys only if it takes them to verify it.
//
// ok is false if the documents aren't all there. Whether what was read is true
// isn't asked.
func readDocuments(ctx context.Context, p Provider, v Version, read readDocument, needsKeys func(signature []byte) bool) (d SignedDocuments, ok bool, err error) {
	if d.Signature, err = read(ctx, layout.SignatureName(p, v), signatureBytes); err != nil || issuerOf(d.Signature) == "" {
		return SignedDocuments{}, false, err
	}
	if d.Sums, err = read(ctx, layout.ChecksumsName(p, v), checksumsBytes); err != nil || len(d.Sums) == 0 {
		return SignedDocuments{}, false, err
	}
	if !needsKeys(d.Signature) {
		return d, true, nil
	}
	keys, err := read(ctx, layout.KeysName(p, v), maxMirroredKeys)
	if err != nil {
		return SignedDocuments{}, false, err
	}
	d.Keys = decodeMirroredKeys(keys)
	return d, true, nil
}

// ReadSignedDocuments reads what lies in a directory of a mirror,
// "host/namespace/type", about a version. Whether it is true isn't asked. ok is
// false if it isn't all there, or can't be read; the keys may be missing.
func (p Provider) ReadSignedDocuments(dir string, v Version) (d SignedDocuments, ok bool) {
	always := func([]byte) bool { return true }
	d, ok, _ = readDocuments(context.Background(), p, v, inDirectory(dir), always) // it has no errors
	return d, ok
}

// inDirectory reads from a directory. Files may be links, as archives may.
func inDirectory(dir string) readDocument {
	return func(_ context.Context, name string, max int64) ([]byte, error) {
		content, err := wholefile.Read(filepath.Join(dir, name), max)
		if err != nil {
			return nil, nil // as good as none
		}
		return content, nil
	}
}

// Covers reports whether the list has, for the package of a version, the
// checksum zh. It looks at the list alone, not at its signature.
func (d SignedDocuments) Covers(p Provider, v Version, plat Platform, zh Hash) bool {
	found, _ := parseChecksums(d.Sums).find(p.PackedName(v, plat))
	return found != "" && found == zh
}

// Archives returns the checksums that the list has for a version's packages, by the names that
// publishers give their archives. It looks at the list alone, not at its signature: authenticate by
// it first.
func (d SignedDocuments) Archives(p Provider, v Version) map[Platform]Hash {
	all := map[Platform]Hash{}
	for _, line := range parseChecksums(d.Sums) {
		version, plat, ok := p.ParsePackedName(line.name)
		zh, isZH := line.zh()
		if ok && isZH && version == v && line.name == p.PackedName(v, plat) {
			all[plat] = zh
		}
	}
	return all
}

// mirroredKeys is the file with the keys. It has the form of "signing_keys" in a
// registry's description of a package.
type mirroredKeys struct {
	GPG []mirroredKey `json:"gpg_public_keys"`
}

type mirroredKey struct {
	ID string `json:"key_id,omitempty"` // for people
	wireKey
}

// EncodeKeys writes the keys as they lie in a mirror.
func (d SignedDocuments) EncodeKeys() []byte {
	file := mirroredKeys{GPG: []mirroredKey{}}
	for _, key := range d.Keys {
		file.GPG = append(file.GPG, mirroredKey{idOf(key.Armored), wireKey(key)})
	}
	text, _ := wholefile.JSON(file) // there is nothing in it that can't be encoded
	return text
}

// decodeMirroredKeys reads such a file. What makes no sense names no key.
func decodeMirroredKeys(content []byte) (keys []PublicKey) {
	var file mirroredKeys
	if json.Unmarshal(content, &file) != nil {
		return nil
	}
	for _, key := range file.GPG {
		keys = append(keys, PublicKey(key.wireKey))
	}
	return keys
}
