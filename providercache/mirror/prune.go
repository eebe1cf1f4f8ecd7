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

// published is the result of writing documents and of pruning.
type published struct {
	known           []receipt.Pending // receipts of archives in the directory
	pruned, waiting []string
	errs            []error
}

// publish lists the archives in documents, and prunes those that aren't wanted.
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

// prune removes unwanted entries from a provider's list of versions, then from the
// documents about versions. PruneGrace after that, it removes archives, then their
// signed documents, and the documents about versions last. The time is known from the
// documents' modification times: a document is written only when it changes.
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
	unread := func(document string) bool { // no client uses an older copy of it any more
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

// dropped returns the versions that have documents but no wanted archive.
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

// versionOf returns the version that a document is about.
func versionOf(name string) (v getproviders.Version, ok bool) {
	text, ok := strings.CutSuffix(baseName(name), ".json")
	if !ok {
		return v, false
	}
	v, err := getproviders.ParseVersion(text)
	return v, err == nil && archivedir.VersionName(v) == baseName(name)
}
