package providercache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
)

// publish writes the indexes, for all that is in the mirror. complete: nothing
// that is wanted is missing, so what isn't wanted may go.
func (m *mirror) publish(ctx context.Context, kept []mirrorKept, complete bool) (pruned []string, errs []error) {
	byName := map[string]*mirrorKept{}
	var providers []getproviders.Provider
	for i := range kept {
		byName[kept[i].name] = &kept[i]
		providers = append(providers, kept[i].Selection.Provider)
	}
	// Two processes that write one mirror would each list what they know.
	if dir := m.archives.file.dir; dir != "" && m.archives.file.makeDir() == nil {
		defer lockState(ctx, filepath.Join(dir, m.archives.file.name+".lock"))()
	}
	there, err := (&getproviders.FilesystemMirrorSource{Dir: m.opts.Dir}).Providers(ctx)
	if err != nil {
		return nil, []error{&MirrorError{Path: m.opts.Dir, Err: err}}
	}
	providers = append(providers, there...)
	slices.SortFunc(providers, getproviders.Provider.Compare)
	providers = slices.Compact(providers)
	results, failed := par.Map(ctx, m.Limits.withDefaults().Unpacks, providers, func(ctx context.Context, p getproviders.Provider) (mirrorPublished, error) {
		return m.publishProvider(ctx, p, byName, m.opts.Prune && complete), nil
	})
	var known []published
	for i, r := range results {
		known, pruned, errs = append(known, r.known...), append(pruned, r.pruned...), append(append(errs, r.errs...), failed[i])
	}
	m.remember(ctx, known)
	slices.Sort(pruned)
	return pruned, errs
}

// mirrorPublished is what came of one provider's indexes.
type mirrorPublished struct {
	known  []published
	pruned []string
	errs   []error
}

func (m *mirror) publishProvider(ctx context.Context, p getproviders.Provider, kept map[string]*mirrorKept, prune bool) (done mirrorPublished) {
	shelf, errs := m.shelve(ctx, p, kept, prune)
	if len(shelf.versions) == 0 && len(shelf.unwanted) == 0 {
		return mirrorPublished{errs: errs}
	}
	done.errs = append(errs, m.replaceArchives(shelf, kept)...)
	if len(done.errs) == len(errs) {
		done.errs = append(done.errs, m.writeDocuments(shelf, kept)...)
	}
	if len(done.errs) == len(errs) {
		done.errs = append(done.errs, m.writeIndexes(shelf)...)
	}
	done.known = shelf.all()
	if prune && len(done.errs) == 0 {
		done.pruned, done.errs = m.prune(shelf)
	}
	return done
}

// replaceArchives puts archives into the places of others: while that is done,
// the index doesn't tell of them.
func (m *mirror) replaceArchives(shelf mirrorShelf, kept map[string]*mirrorKept) (errs []error) {
	waiting := func(p published) bool { return kept[p.Name] != nil && kept[p.Name].stage != nil }
	for _, v := range shelf.sortedVersions() {
		name := mirrorDir(shelf.provider) + "/" + versionName(v)
		_, err := os.Stat(m.path(name))
		listed := err == nil
		for _, p := range shelf.versions[v] {
			if !waiting(p) {
				continue
			}
			if listed {
				err = m.write(name, shelf.version(v, func(p published) bool { return !waiting(p) }))
				listed = false
			} else {
				err = nil
			}
			if err == nil {
				err = m.removeDocuments(shelf.provider, v) // what they are about goes
			}
			if err == nil {
				err = kept[p.Name].place()
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// writeIndexes writes what changes: versions first, so that the list of them
// tells of none whose document isn't there.
func (m *mirror) writeIndexes(shelf mirrorShelf) (errs []error) {
	for _, v := range shelf.sortedVersions() {
		if err := m.write(mirrorDir(shelf.provider)+"/"+versionName(v), shelf.version(v, func(published) bool { return true })); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 || len(shelf.versions) == 0 {
		return errs
	}
	if err := m.write(mirrorDir(shelf.provider)+"/"+indexName, shelf.index()); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// write replaces a document, if it changes.
func (m *mirror) write(name string, content []byte) error {
	path := m.path(name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && wholefile.Has(path, content) {
		return nil
	}
	if err := wholefile.Write(path, content, archiveMode); err != nil {
		return &MirrorError{Path: path, Err: err}
	}
	return nil
}

// prune removes archives that aren't wanted, and the documents about versions
// that have none any more. The list of versions doesn't tell of them since the
// indexes were written, or it goes first.
func (m *mirror) prune(shelf mirrorShelf) (pruned []string, errs []error) {
	remove := func(name string) {
		err := os.Remove(m.path(name))
		if err == nil {
			pruned = append(pruned, name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, &MirrorError{Path: m.path(name), Err: err})
		}
	}
	dir := mirrorDir(shelf.provider)
	if len(shelf.versions) == 0 {
		remove(dir + "/" + indexName)
	}
	entries, _ := os.ReadDir(m.path(dir))
	for _, entry := range entries {
		text, ok := strings.CutSuffix(entry.Name(), ".json")
		v, err := getproviders.ParseVersion(text)
		if ok && err == nil && shelf.versions[v] == nil && versionName(v) == entry.Name() {
			remove(dir + "/" + entry.Name())
		}
		if v, ok := getproviders.ParseDocumentName(entry.Name(), shelf.provider); ok && shelf.versions[v] == nil {
			remove(dir + "/" + entry.Name())
		}
	}
	for _, name := range shelf.unwanted {
		remove(name)
		m.archives.drop(name)
	}
	for at := dir; strings.Contains(at, "/"); at = at[:strings.LastIndexByte(at, '/')] {
		if os.Remove(m.path(at)) != nil { // it isn't empty
			break
		}
	}
	return pruned, errs
}
