package providercache

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// mirrorShelf is one provider's directory in a mirror, as the indexes are to
// tell of it.
type mirrorShelf struct {
	provider getproviders.Provider
	versions map[getproviders.Version]map[getproviders.Platform]receipt.Pending
	unwanted []string // names of archives that are to go
}

// mirrorIndex is "index.json", and mirrorVersion "VERSION.json", as the protocol
// of network mirrors has them.
type (
	mirrorIndex struct {
		Versions map[string]struct{} `json:"versions"`
	}
	mirrorVersion struct {
		Archives map[string]mirrorArchive `json:"archives"`
	}
	mirrorArchive struct {
		Hashes []getproviders.Hash `json:"hashes"`
		URL    string              `json:"url"` // of the archive, from this document
	}
)

const indexName = "index.json"

func versionName(v getproviders.Version) string { return v.String() + ".json" }

// encodeIndex writes a document byte for byte as the real tools do.
func encodeIndex(document any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil { // there is nothing in it that can't be encoded
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// index lists the versions.
func (s mirrorShelf) index() []byte {
	document := mirrorIndex{Versions: map[string]struct{}{}}
	for v := range s.versions {
		document.Versions[v.String()] = struct{}{}
	}
	return encodeIndex(document)
}

// version lists the packages of a version, as far as listed says so; nil: all. Of
// an archive's hashes it tells the h1 in which its directories count, as the real
// tools compute it.
func (s mirrorShelf) version(v getproviders.Version, listed func(receipt.Pending) bool) []byte {
	document := mirrorVersion{Archives: map[string]mirrorArchive{}}
	for plat, p := range s.versions[v] {
		if listed == nil || listed(p) {
			document.Archives[plat.String()] = mirrorArchive{
				Hashes: []getproviders.Hash{p.Receipt.ArchiveH1()}, URL: p.Name[strings.LastIndexByte(p.Name, '/')+1:],
			}
		}
	}
	return encodeIndex(document)
}

// sortedVersions are the versions of a shelf.
func (s mirrorShelf) sortedVersions() []getproviders.Version {
	var all []getproviders.Version
	for v := range s.versions {
		all = append(all, v)
	}
	slices.SortFunc(all, getproviders.Version.Compare)
	return all
}

// shelve finds out what is in a provider's directory. What kept has a stage for
// counts as if it were in its place. An archive that can't be read is an error,
// and isn't listed.
func (d *archiveDir) shelve(ctx context.Context, p getproviders.Provider, kept map[string]*mirrorKept, prune bool) (mirrorShelf, []error) {
	shelf := mirrorShelf{provider: p, versions: map[getproviders.Version]map[getproviders.Platform]receipt.Pending{}}
	entries, err := os.ReadDir(d.path(mirrorDir(p)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shelf, []error{&MirrorError{Path: d.path(mirrorDir(p)), Err: err}}
	}
	var errs []error
	for _, entry := range entries {
		v, plat, ok := getproviders.ParsePackedName(entry.Name(), p.Type)
		name := mirrorDir(p) + "/" + entry.Name()
		k := kept[name]
		switch {
		case !ok:
		case prune && k == nil:
			shelf.unwanted = append(shelf.unwanted, name)
		case k != nil && k.known.Name != "":
			shelf.add(v, plat, k.known)
		default:
			found, err := d.find(ctx, p, name)
			if err != nil {
				errs = append(errs, &MirrorError{Path: d.path(name), Err: err})
				continue
			}
			shelf.add(v, plat, found)
		}
	}
	return shelf, errs
}

// add puts an archive on the shelf. Of two for one platform, the one counts whose
// name is nearest to the layout's.
func (s mirrorShelf) add(v getproviders.Version, plat getproviders.Platform, p receipt.Pending) {
	if s.versions[v] == nil {
		s.versions[v] = map[getproviders.Platform]receipt.Pending{}
	}
	exact := getproviders.PackedName(s.provider, v, plat)
	if _, ok := s.versions[v][plat]; !ok || filepath.Base(p.Dir) == exact {
		s.versions[v][plat] = p
	}
}

// all are the archives on the shelf.
func (s mirrorShelf) all() (all []receipt.Pending) {
	for _, v := range s.sortedVersions() {
		for _, p := range s.versions[v] {
			all = append(all, p)
		}
	}
	return all
}
