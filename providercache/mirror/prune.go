package mirror

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
)

// pruning takes what isn't wanted out of one provider's directory. The indexes that
// were written before don't list it, or those that it writes first don't. For how long
// that has been so, only their times say: a document is written only when it changes.
type pruning struct {
	*mirror
	listing archivedir.Listing
	removed []string
	waiting []string
	errs    []error
}

// prune takes away what isn't wanted: it is taken out of the list of versions,
// then out of the documents about versions. When it has been out of them for long enough,
// archives are removed, then what is signed about them, and the documents last.
func (m *mirror) prune(listing archivedir.Listing) *pruning {
	p := &pruning{mirror: m, listing: listing}
	dir := archivedir.MirrorDir(listing.Provider)
	dropped := p.dropped()
	if len(listing.Versions) == 0 {
		p.empty(dir+"/"+archivedir.IndexName, listing.Index())
	}
	for _, v := range dropped {
		p.empty(dir+"/"+archivedir.VersionName(v), listing.Version(v, nil))
	}
	if len(p.errs) > 0 {
		return p
	}
	for _, name := range listing.Unwanted {
		p.removeArchive(name)
	}
	for _, v := range dropped {
		p.removeVersion(v)
	}
	if len(listing.Versions) == 0 && len(p.waiting) == 0 && p.unlisted(dir+"/"+archivedir.IndexName) {
		p.remove(dir + "/" + archivedir.IndexName)
	}
	for at := dir; strings.Contains(at, "/"); at = at[:strings.LastIndexByte(at, '/')] {
		if os.Remove(m.dir.Path(at)) != nil { // it isn't empty
			break
		}
	}
	return p
}

// dropped are the versions that something is there about, and no archive that is
// wanted.
func (p *pruning) dropped() (versions []getproviders.Version) {
	entries, _ := os.ReadDir(p.dir.Path(archivedir.MirrorDir(p.listing.Provider)))
	for _, entry := range entries {
		text, isDocument := strings.CutSuffix(entry.Name(), ".json")
		v, err := getproviders.ParseVersion(text)
		isDocument = isDocument && err == nil && archivedir.VersionName(v) == entry.Name()
		if !isDocument {
			v, isDocument = getproviders.ParseDocumentName(entry.Name(), p.listing.Provider)
		}
		if isDocument && p.listing.Versions[v] == nil {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, getproviders.Version.Compare)
	return slices.Compact(versions)
}

// empty makes a document list nothing. A document that doesn't exist needs nothing.
func (p *pruning) empty(name string, content []byte) {
	if _, err := os.Lstat(p.dir.Path(name)); errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := p.dir.Write(name, content); err != nil {
		p.errs = append(p.errs, err)
	}
}

// unlisted reports whether a document has been as it is for as long as a client
// may still go by what it was before.
func (p *pruning) unlisted(name string) bool {
	info, err := os.Stat(p.dir.Path(name))
	return err != nil || p.opts.PruneGrace <= 0 || p.dir.Fetcher.Time().Sub(info.ModTime()) >= p.opts.PruneGrace
}

func (p *pruning) removeArchive(name string) {
	v, _, _ := getproviders.ParsePackedName(name[strings.LastIndexByte(name, '/')+1:], p.listing.Provider.Type)
	if !p.unlisted(archivedir.MirrorDir(p.listing.Provider) + "/" + archivedir.VersionName(v)) {
		p.waiting = append(p.waiting, name)
		return
	}
	p.remove(name)
	p.dir.Receipts.Drop(name)
}

// removeVersion removes all about a version of which no archive is there any more.
func (p *pruning) removeVersion(v getproviders.Version) {
	dir := archivedir.MirrorDir(p.listing.Provider)
	if !p.unlisted(dir + "/" + archivedir.VersionName(v)) {
		return
	}
	for _, name := range slices.Backward(archivedir.DocumentNames(p.listing.Provider, v)) {
		p.remove(dir + "/" + name)
	}
	p.remove(dir + "/" + archivedir.VersionName(v))
}

func (p *pruning) remove(name string) {
	err := scratch.CheckLinks(p.dir.Root, p.dir.Path(name))
	if err == nil {
		err = os.Remove(p.dir.Path(name))
	}
	switch {
	case err == nil:
		p.removed = append(p.removed, name)
	case !errors.Is(err, fs.ErrNotExist):
		p.errs = append(p.errs, &archivedir.Error{Path: p.dir.Path(name), Err: err})
	}
}
