package mirror

import (
	"context"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// publish writes the indexes, for all that is in the mirror. complete: nothing
// that is wanted is missing, so what isn't wanted may go.
func (m *mirror) publish(ctx context.Context, kept []archivedir.Kept, complete bool) (all mirrorPublished) {
	byName := map[string]*archivedir.Kept{}
	var providers []getproviders.Provider
	for i := range kept {
		byName[kept[i].Name] = &kept[i]
		providers = append(providers, kept[i].Selection.Provider)
	}
	// Two processes that write one mirror would each list what they know.
	defer m.dir.Receipts.Exclude(ctx)()
	there, err := (&getproviders.FilesystemMirrorSource{Dir: m.opts.Dir}).Providers(ctx)
	if err != nil {
		return mirrorPublished{errs: []error{&archivedir.Error{Path: m.opts.Dir, Err: err}}}
	}
	providers = append(providers, there...)
	slices.SortFunc(providers, getproviders.Provider.Compare)
	providers = slices.Compact(providers)
	results, failed := par.Map(ctx, m.dir.Fetcher.Limits.WithDefaults().Unpacks, providers, func(ctx context.Context, p getproviders.Provider) (mirrorPublished, error) {
		return m.publishProvider(ctx, p, byName, m.opts.Prune && complete), nil
	})
	for i, r := range results {
		all.known, all.errs = append(all.known, r.known...), append(append(all.errs, r.errs...), failed[i])
		all.pruned, all.waiting = append(all.pruned, r.pruned...), append(all.waiting, r.waiting...)
	}
	m.dir.Remember(ctx, all.known)
	slices.Sort(all.pruned)
	slices.Sort(all.waiting)
	return all
}

// mirrorPublished is what came of indexes.
type mirrorPublished struct {
	known           []receipt.Pending
	pruned, waiting []string
	errs            []error
}

func (m *mirror) publishProvider(ctx context.Context, p getproviders.Provider, kept map[string]*archivedir.Kept, prune bool) (done mirrorPublished) {
	listing, errs := m.dir.List(ctx, p, kept, prune)
	if len(listing.Versions) == 0 && len(listing.Unwanted) == 0 {
		return mirrorPublished{errs: errs}
	}
	done.errs = append(errs, m.replaceArchives(listing, kept)...)
	if len(done.errs) == len(errs) {
		done.errs = append(done.errs, m.writeDocuments(listing, kept)...)
	}
	if len(done.errs) == len(errs) {
		done.errs = append(done.errs, m.writeIndexes(listing)...)
	}
	done.known = listing.All()
	if prune && len(done.errs) == 0 {
		p := m.prune(listing)
		done.pruned, done.waiting, done.errs = p.removed, p.waiting, p.errs
	}
	return done
}

// replaceArchives puts archives into the places of others: while that is done,
// the index doesn't list them.
func (m *mirror) replaceArchives(listing archivedir.Listing, kept map[string]*archivedir.Kept) (errs []error) {
	waiting := func(p receipt.Pending) bool { return kept[p.Name] != nil && kept[p.Name].Stage != nil }
	for _, v := range listing.SortedVersions() {
		name := archivedir.MirrorDir(listing.Provider) + "/" + archivedir.VersionName(v)
		_, err := os.Stat(m.dir.Path(name))
		listed := err == nil
		for _, p := range listing.Versions[v] {
			if !waiting(p) {
				continue
			}
			if listed {
				err = m.dir.Write(name, listing.Version(v, func(p receipt.Pending) bool { return !waiting(p) }))
				listed = false
			} else {
				err = nil
			}
			if err == nil {
				err = m.dir.RemoveDocuments(listing.Provider, v) // what they are about goes
			}
			if err == nil {
				err = kept[p.Name].Publish()
			}
			if err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// writeIndexes writes what changes: versions first, so that the list of them
// lists none whose document isn't there.
func (m *mirror) writeIndexes(listing archivedir.Listing) (errs []error) {
	for _, v := range listing.SortedVersions() {
		if err := m.dir.Write(archivedir.MirrorDir(listing.Provider)+"/"+archivedir.VersionName(v), listing.Version(v, nil)); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 || len(listing.Versions) == 0 {
		return errs
	}
	if err := m.dir.Write(archivedir.MirrorDir(listing.Provider)+"/"+archivedir.IndexName, listing.Index()); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// writeDocuments writes what is signed about the versions beside their archives,
// before an index lists these. A list that isn't true of every archive of its
// version would keep people from installing, so there is none then; one that
// became untrue by what this run did is removed.
func (m *mirror) writeDocuments(listing archivedir.Listing, kept map[string]*archivedir.Kept) (errs []error) {
	for _, v := range listing.SortedVersions() {
		documents, changed := listing.Documents(v, kept)
		var err error
		switch {
		case documents != nil && listing.Covered(v, *documents):
			err = m.dir.ReplaceDocuments(listing.Provider, v, *documents)
		case changed:
			there, ok := getproviders.ReadSignedDocuments(m.dir.Path(archivedir.MirrorDir(listing.Provider)), listing.Provider, v)
			if ok && !listing.Covered(v, there) {
				err = m.dir.RemoveDocuments(listing.Provider, v)
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
