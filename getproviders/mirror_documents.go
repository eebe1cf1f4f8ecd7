package getproviders

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// maxMirroredKeys is the largest size of a mirror's file of keys: a key takes a few kilobytes.
const maxMirroredKeys = 1 << 20

// readDocument returns the content of the file with that name, or nil if it doesn't exist, is no
// regular file, or has more than max bytes.
type readDocument = func(ctx context.Context, name string, max int64) ([]byte, error)

// readDocuments reads a version's documents by their names in the layout (see
// layout.ChecksumsName). It reads the signature first, the list only if there is a signature, and
// the keys only if needsKeys says that they may be needed to verify it.
//
// ok is false if a document is missing. It verifies nothing.
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

// ReadSignedDocuments reads the documents of a version from a mirror's directory
// "host/namespace/type". It verifies nothing. ok is false if the list or its signature is missing
// or unreadable; the keys may be missing.
func (p Provider) ReadSignedDocuments(dir string, v Version) (d SignedDocuments, ok bool) {
	always := func([]byte) bool { return true }
	d, ok, _ = readDocuments(context.Background(), p, v, inDirectory(dir), always) // inDirectory returns no errors
	return d, ok
}

// inDirectory reads from a directory. It follows symlinks, as for archives.
func inDirectory(dir string) readDocument {
	return func(_ context.Context, name string, max int64) ([]byte, error) {
		content, err := wholefile.Read(filepath.Join(dir, name), max)
		if err != nil {
			return nil, nil // the same as a missing file
		}
		return content, nil
	}
}

// Covers reports whether the list has the checksum zh for the package of a version. It doesn't
// verify the list's signature.
func (d SignedDocuments) Covers(p Provider, v Version, plat Platform, zh Hash) bool {
	found, _ := parseChecksums(d.Sums).find(p.PackedName(v, plat))
	return found != "" && found == zh
}

// Archives returns the checksums that the list has for a version's packages, by the publishers'
// names of archives. It doesn't verify the list's signature: authenticate by it first.
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

// mirroredKeys is the file of keys. It has the format of "signing_keys" in a registry's description
// of a package.
type mirroredKeys struct {
	GPG []mirroredKey `json:"gpg_public_keys"`
}

type mirroredKey struct {
	ID string `json:"key_id,omitempty"` // for people
	wireKey
}

// EncodeKeys returns the content of a mirror's file of keys.
func (d SignedDocuments) EncodeKeys() []byte {
	file := mirroredKeys{GPG: []mirroredKey{}}
	for _, key := range d.Keys {
		file.GPG = append(file.GPG, mirroredKey{idOf(key.Armored), wireKey(key)})
	}
	text, _ := wholefile.JSON(file) // all its values can be encoded
	return text
}

// decodeMirroredKeys reads a file of EncodeKeys. It returns no keys for malformed content.
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
