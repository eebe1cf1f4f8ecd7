package mirror

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// published is what became of documents, and of what they list.
type published struct {
	known           []receipt.Pending // what archives of the directory are
	pruned, waiting []string
	errs            []error
}

// publish has the documents list what is there, and removes what isn't wanted.
func (m *run) publish(ctx context.Context, kept []archivedir.Kept, prune bool) (all published) {
	byProvider := map[getproviders.Provider][]*archivedir.Kept{}
	for i := range kept {
		p := kept[i].Provider
		byProvider[p] = append(byProvider[p], &kept[i])
	}
	defer m.dir.Receipts.Exclude(ctx)()
	found, err := m.tree.providers(ctx, prune)
	if err != nil {
		return published{errs: []error{err}}
	}
	providers := slices.AppendSeq(found, maps.Keys(byProvider))
	slices.SortFunc(providers, getproviders.Provider.Compare)
	providers = slices.Compact(providers)
	results, failed := par.Map(ctx, m.dir.Fetcher.Limits.Queries, providers, func(ctx context.Context, p getproviders.Provider) (published, error) {
		done := m.tree.publish(ctx, p, byProvider[p], prune)
		if prune && len(done.errs) == 0 {
			m.prune(ctx, p, byProvider[p], &done)
		}
		return done, nil
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

// prune takes what isn't wanted out of a provider's list of versions, then out of the documents
// about versions. When it has been out of them for long enough, archives are removed, then what is
// signed about them, and the documents last. For how long, only the times of the documents say:
// one is written only when it changes.
func (m *run) prune(ctx context.Context, p getproviders.Provider, kept []*archivedir.Kept, done *published) {
	wanted, versions := map[string]bool{}, map[getproviders.Version]bool{}
	for _, k := range kept {
		wanted[k.Name], versions[k.Version] = true, true
	}
	var files map[string]blob.Info
	err := m.tree.unlist(ctx, p, wanted, versions)
	if err == nil {
		files, err = m.tree.list(ctx, p)
	}
	if err != nil {
		done.errs = append(done.errs, err)
		return
	}
	unread := func(document string) bool { // no client goes any more by what it was before
		info, there := files[document]
		return !there || m.opts.PruneGrace <= 0 || m.dir.Fetcher.Now().Sub(info.Modified) >= m.opts.PruneGrace
	}
	remove := func(name string) {
		if _, there := files[name]; !there {
			return
		}
		if err := m.tree.RemoveFile(ctx, name); err != nil {
			done.errs = append(done.errs, err)
			return
		}
		done.pruned = append(done.pruned, name)
	}
	for name := range files {
		v, _, packed := p.ParsePackedName(baseName(name))
		switch {
		case !packed || wanted[name]:
		case unread(versionKey(p, v)):
			remove(name)
		default:
			done.waiting = append(done.waiting, name)
		}
	}
	for _, v := range dropped(files, p, versions) {
		if unread(versionKey(p, v)) {
			for _, name := range slices.Backward(archivedir.DocumentNames(p, v)) {
				remove(name)
			}
			remove(versionKey(p, v))
		}
	}
	if len(versions) == 0 && len(done.waiting) == 0 && unread(indexKey(p)) {
		remove(indexKey(p))
	}
}

// dropped are the versions that there are documents about, and no archive that is wanted.
func dropped(files map[string]blob.Info, p getproviders.Provider, wanted map[getproviders.Version]bool) (versions []getproviders.Version) {
	for name := range files {
		v, ok := versionOf(name)
		if !ok {
			v, ok = p.ParseDocumentName(baseName(name))
		}
		if ok && !wanted[v] {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, getproviders.Version.Compare)
	return slices.Compact(versions)
}

// versionOf is the version that a document is about.
func versionOf(name string) (v getproviders.Version, ok bool) {
	text, ok := strings.CutSuffix(baseName(name), ".json")
	if !ok {
		return v, false
	}
	v, err := getproviders.ParseVersion(text)
	return v, err == nil && archivedir.VersionName(v) == baseName(name)
}
