package archivedir

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Documents are those of a version that were found. changed: one of its archives
// is new.
func (s Listing) Documents(v getproviders.Version, kept map[string]*Kept) (found *getproviders.SignedDocuments, changed bool) {
	var names []string
	for _, p := range s.Versions[v] {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	for _, name := range names {
		if k := kept[name]; k != nil {
			changed = changed || !k.Present
			if found == nil {
				found = k.Documents
			}
		}
	}
	return found, changed
}

// Covered reports whether a list is true of all archives of a version.
func (s Listing) Covered(v getproviders.Version, d getproviders.SignedDocuments) bool {
	for plat, p := range s.Versions[v] {
		if !d.Covers(s.Provider, v, plat, p.Receipt.ZH) {
			return false
		}
	}
	return true
}

// Listing is one provider's directory, as the indexes are to list it.
type Listing struct {
	Provider getproviders.Provider
	Versions map[getproviders.Version]map[getproviders.Platform]receipt.Pending
	Unwanted []string // names of archives that are to go
}

// Index lists the versions.
func (s Listing) Index() []byte {
	document := mirrorIndex{Versions: map[string]struct{}{}}
	for v := range s.Versions {
		document.Versions[v.String()] = struct{}{}
	}
	return encodeIndex(document)
}

// Version lists the packages of a version, as far as listed says so; nil: all. Of
// an archive's hashes it tells the h1 in which its directories count, as
// Terraform computes it.
func (s Listing) Version(v getproviders.Version, listed func(receipt.Pending) bool) []byte {
	document := mirrorVersion{Archives: map[string]mirrorArchive{}}
	for plat, p := range s.Versions[v] {
		if listed == nil || listed(p) {
			document.Archives[plat.String()] = mirrorArchive{
				Hashes: []getproviders.Hash{p.Receipt.ArchiveH1()}, URL: p.Name[strings.LastIndexByte(p.Name, '/')+1:],
			}
		}
	}
	return encodeIndex(document)
}

// SortedVersions are the versions, oldest first.
func (s Listing) SortedVersions() []getproviders.Version {
	var all []getproviders.Version
	for v := range s.Versions {
		all = append(all, v)
	}
	slices.SortFunc(all, getproviders.Version.Compare)
	return all
}

// add lists an archive. Of two for one platform, the one counts whose
// name is nearest to the layout's.
func (s Listing) add(v getproviders.Version, plat getproviders.Platform, p receipt.Pending) {
	if s.Versions[v] == nil {
		s.Versions[v] = map[getproviders.Platform]receipt.Pending{}
	}
	exact := getproviders.PackedName(s.Provider, v, plat)
	if _, ok := s.Versions[v][plat]; !ok || filepath.Base(p.Dir) == exact {
		s.Versions[v][plat] = p
	}
}

// All are the archives.
func (s Listing) All() (all []receipt.Pending) {
	for _, v := range s.SortedVersions() {
		for _, p := range s.Versions[v] {
			all = append(all, p)
		}
	}
	return all
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

const IndexName = "index.json"

func VersionName(v getproviders.Version) string { return v.String() + ".json" }

// encodeIndex writes a document byte for byte as Terraform does.
func encodeIndex(document any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil { // there is nothing in it that can't be encoded
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
