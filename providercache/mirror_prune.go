package providercache

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// pruning takes what isn't wanted out of one provider's directory. The indexes that
// were written before don't tell of it, or those that it writes first. How long
// they haven't is known by their times alone: a document is written only when it
// changes.
type pruning struct {
	*mirror
	shelf   mirrorShelf
	removed []string
	waiting []string
	errs    []error
}

// prune takes away what isn't wanted: first the list of versions doesn't tell of
// it, then the documents about versions, and when that was so for long enough
// archives go, then what is signed about them, and the documents last.
func (m *mirror) prune(shelf mirrorShelf) *pruning {
	p := &pruning{mirror: m, shelf: shelf}
	dir := mirrorDir(shelf.provider)
	dropped := p.dropped()
	if len(shelf.versions) == 0 {
		p.empty(dir+"/"+indexName, shelf.index())
	}
	for _, v := range dropped {
		p.empty(dir+"/"+versionName(v), shelf.version(v, nil))
	}
	if len(p.errs) > 0 {
		return p
	}
	for _, name := range shelf.unwanted {
		p.removeArchive(name)
	}
	for _, v := range dropped {
		p.removeVersion(v)
	}
	if len(shelf.versions) == 0 && len(p.waiting) == 0 && p.unlisted(dir+"/"+indexName) {
		p.remove(dir + "/" + indexName)
	}
	for at := dir; strings.Contains(at, "/"); at = at[:strings.LastIndexByte(at, '/')] {
		if os.Remove(m.dir.path(at)) != nil { // it isn't empty
			break
		}
	}
	return p
}

// dropped are the versions that something is there about, and no archive that is
// wanted.
func (p *pruning) dropped() (versions []getproviders.Version) {
	entries, _ := os.ReadDir(p.dir.path(mirrorDir(p.shelf.provider)))
	for _, entry := range entries {
		text, isDocument := strings.CutSuffix(entry.Name(), ".json")
		v, err := getproviders.ParseVersion(text)
		isDocument = isDocument && err == nil && versionName(v) == entry.Name()
		if !isDocument {
			v, isDocument = getproviders.ParseDocumentName(entry.Name(), p.shelf.provider)
		}
		if isDocument && p.shelf.versions[v] == nil {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, getproviders.Version.Compare)
	return slices.Compact(versions)
}

// empty has a document tell of nothing. Where there is none, that is so already.
func (p *pruning) empty(name string, content []byte) {
	if _, err := os.Lstat(p.dir.path(name)); errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := p.dir.write(name, content); err != nil {
		p.errs = append(p.errs, err)
	}
}

// unlisted reports whether a document has been as it is for as long as somebody
// may still go by what it was before.
func (p *pruning) unlisted(name string) bool {
	info, err := os.Stat(p.dir.path(name))
	return err != nil || p.opts.PruneGrace <= 0 || p.dir.fetcher.Time().Sub(info.ModTime()) >= p.opts.PruneGrace
}

func (p *pruning) removeArchive(name string) {
	v, _, _ := getproviders.ParsePackedName(name[strings.LastIndexByte(name, '/')+1:], p.shelf.provider.Type)
	if !p.unlisted(mirrorDir(p.shelf.provider) + "/" + versionName(v)) {
		p.waiting = append(p.waiting, name)
		return
	}
	p.remove(name)
	p.dir.receipts.Drop(name)
}

// removeVersion removes all about a version of which no archive is there any more.
func (p *pruning) removeVersion(v getproviders.Version) {
	dir := mirrorDir(p.shelf.provider)
	if !p.unlisted(dir + "/" + versionName(v)) {
		return
	}
	for _, name := range slices.Backward(documentNames(p.shelf.provider, v)) {
		p.remove(dir + "/" + name)
	}
	p.remove(dir + "/" + versionName(v))
}

func (p *pruning) remove(name string) {
	switch err := os.Remove(p.dir.path(name)); {
	case err == nil:
		p.removed = append(p.removed, name)
	case !errors.Is(err, fs.ErrNotExist):
		p.errs = append(p.errs, &MirrorError{Path: p.dir.path(name), Err: err})
	}
}
