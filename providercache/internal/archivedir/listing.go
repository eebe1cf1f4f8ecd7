package archivedir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Listing has the archives of one provider's directory, for its indexes.
type Listing struct {
	Provider getproviders.Provider
	Versions map[getproviders.Version]map[getproviders.Platform]receipt.Pending
	Product  getproviders.Product
}

// Index returns the document that lists the versions.
func (s Listing) Index() []byte {
	document := IndexDocument{Versions: map[string]struct{}{}}
	for v := range s.Versions {
		document.Versions[v.String()] = struct{}{}
	}
	return Encode(document)
}

// Version returns the document that lists a version's archives for which listed is true; nil: all.
func (s Listing) Version(v getproviders.Version, listed func(receipt.Pending) bool) []byte {
	document := VersionDocument{Archives: map[string]ArchiveEntry{}}
	for plat, p := range s.Versions[v] {
		if listed == nil || listed(p) {
			document.Archives[plat.String()] = ArchiveEntry{Hashes: s.hashes(p.Receipt), URL: p.Name[strings.LastIndexByte(p.Name, '/')+1:]}
		}
	}
	return Encode(document)
}

// hashes returns the hashes of an archive that the product lists. Terraform lists the
// h1 in which directories count. OpenTofu lists the zh, which its "init" then writes
// into the lock file; an h1 with directories would be a second one there.
func (s Listing) hashes(r receipt.Receipt) []getproviders.Hash {
	h1 := r.ArchiveH1()
	switch {
	case !dialect.Of(s.Product).Understands("mirrored_zh") || r.ZH == "":
		return []getproviders.Hash{h1}
	case h1 == r.H1:
		return []getproviders.Hash{h1, r.ZH}
	}
	return []getproviders.Hash{r.ZH}
}

// SortedVersions returns the versions, oldest first.
func (s Listing) SortedVersions() []getproviders.Version {
	return slices.SortedFunc(maps.Keys(s.Versions), getproviders.Version.Compare)
}

// add lists an archive. If a platform has several archives, the one with exactly the layout's name is listed.
func (s Listing) add(v getproviders.Version, plat getproviders.Platform, p receipt.Pending) {
	if s.Versions[v] == nil {
		s.Versions[v] = map[getproviders.Platform]receipt.Pending{}
	}
	exact := s.Provider.PackedName(v, plat)
	if _, ok := s.Versions[v][plat]; !ok || filepath.Base(p.Dir) == exact {
		s.Versions[v][plat] = p
	}
}

// All returns all archives.
func (s Listing) All() (all []receipt.Pending) {
	for _, v := range s.SortedVersions() {
		for _, p := range s.Versions[v] {
			all = append(all, p)
		}
	}
	return all
}

// IndexDocument is "index.json", and VersionDocument "VERSION.json", of the network mirror protocol.
type (
	IndexDocument struct {
		Versions map[string]struct{} `json:"versions"`
	}
	VersionDocument struct {
		Archives map[string]ArchiveEntry `json:"archives"` // by platforms
	}
	ArchiveEntry struct {
		Hashes []getproviders.Hash `json:"hashes,omitempty"`
		URL    string              `json:"url"` // of the archive, relative to this document
	}
)

const IndexName = "index.json"

func VersionName(v getproviders.Version) string { return v.String() + ".json" }

// Encode writes a document byte for byte as Terraform does.
func Encode(document any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil { // these types can always be encoded
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// List identifies the archives in a provider's directory. A staged archive counts as if
// it were in place. An archive that can't be read is an error, and isn't listed.
func (d *Dir) List(ctx context.Context, p getproviders.Provider, kept map[string]*Kept, prune bool) (Listing, []error) {
	listing := Listing{Provider: p, Product: d.Fetcher.Product, Versions: map[getproviders.Version]map[getproviders.Platform]receipt.Pending{}}
	entries, err := os.ReadDir(d.Path(MirrorDir(p)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return listing, []error{Unlisted(d.Path(MirrorDir(p)), err)}
	}
	var errs []error
	for _, entry := range entries {
		v, plat, ok := p.ParsePackedName(entry.Name())
		name := MirrorDir(p) + "/" + entry.Name()
		k := kept[name]
		switch {
		case !ok, prune && k == nil:
		case k != nil && k.Known.Name != "":
			listing.add(v, plat, k.Known)
		default:
			found, err := d.Find(ctx, p, name)
			if err != nil {
				errs = append(errs, Unlisted(d.Path(name), err))
				continue
			}
			listing.add(v, plat, found)
		}
	}
	return listing, errs
}

// Find identifies an archive of the directory, by its receipt or by reading it.
// The error matches fs.ErrNotExist if the archive doesn't exist.
func (d *Dir) Find(ctx context.Context, p getproviders.Provider, name string) (receipt.Pending, error) {
	path := d.Path(name)
	found := receipt.Pending{Name: name, Dir: path, Archive: true}
	if rc, ok := d.Receipts.Known(name, path, d.Fetcher.Now()); ok && !d.Fetcher.Verify {
		found.Receipt = rc
		return found, nil
	}
	began := d.Fetcher.Now()
	record, _ := receipt.RecordArchive(path)
	record.ReadFrom = began
	file, info, err := patient.OpenRegular(path)
	if err != nil {
		return receipt.Pending{}, err
	}
	defer file.Close()
	content, zh, err := d.Fetcher.Hash(ctx, file, info.Size(), p)
	if err != nil {
		return receipt.Pending{}, err
	}
	found.Receipt = receipt.Provenance{H1: content.H1, H1Archive: content.OtherH1(), ZH: zh, ArchiveBytes: info.Size()}.Receipt(record)
	return found, nil
}

// Remember writes receipts for archives, so that the next run needn't read them.
func (d *Dir) Remember(ctx context.Context, all []receipt.Pending) {
	var fresh []receipt.Pending
	for _, p := range all {
		if p.Receipt.Taken.IsZero() && len(p.Receipt.Record.Entries) > 0 {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) > 0 {
		d.Receipts.Record(ctx, d.Fetcher.Now, fresh...)
	}
	_ = d.Receipts.File.Save(ctx)
}
