package mirror

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// publish has the documents list what is in the bucket. complete: nothing that is wanted is
// missing, so what isn't wanted may go.
func (u *uploading) publish(ctx context.Context, kept []archivedir.Kept, complete bool) (all mirrorPublished) {
	byProvider := map[getproviders.Provider][]archivedir.Kept{}
	for _, k := range kept {
		if k.Err == nil {
			byProvider[k.Selection.Provider] = append(byProvider[k.Selection.Provider], k)
		}
	}
	prune := u.mirror.opts.Prune && complete
	providers := slices.Collect(maps.Keys(byProvider))
	if prune {
		found, err := u.providers(ctx)
		if err != nil {
			return mirrorPublished{errs: []error{err}}
		}
		providers = append(providers, found...)
	}
	slices.SortFunc(providers, getproviders.Provider.Compare)
	providers = slices.Compact(providers)
	results, failed := par.Map(ctx, u.mirror.dir.Fetcher.Limits.WithDefaults().Queries, providers, func(ctx context.Context, p getproviders.Provider) (mirrorPublished, error) {
		done := mirrorPublished{errs: u.publishProvider(ctx, p, byProvider[p])}
		if prune && len(done.errs) == 0 {
			pruned := u.prune(ctx, p, byProvider[p])
			done.pruned, done.waiting, done.errs = pruned.removed, pruned.waiting, pruned.errs
		}
		return done, nil
	})
	for i, r := range results {
		all.errs = append(append(all.errs, r.errs...), failed[i])
		all.pruned, all.waiting = append(all.pruned, r.pruned...), append(all.waiting, r.waiting...)
	}
	slices.Sort(all.pruned)
	slices.Sort(all.waiting)
	return all
}

// providers finds the providers that the bucket has anything of.
func (u *uploading) providers(ctx context.Context) (found []getproviders.Provider, err error) {
	seen := map[string]bool{}
	for info, err := range u.bucket.List(ctx, "") {
		if err != nil {
			return nil, &archivedir.Error{Path: u.bucket.String(), Err: err}
		}
		parts := strings.Split(info.Key, "/")
		if len(parts) != 4 || seen[strings.Join(parts[:3], "/")] {
			continue
		}
		seen[strings.Join(parts[:3], "/")] = true
		p, err := u.mirror.dir.Fetcher.Product.ParseProvider(strings.Join(parts[:3], "/"))
		if err == nil && archivedir.MirrorDir(p) == strings.Join(parts[:3], "/") {
			found = append(found, p)
		}
	}
	return found, nil
}

// publishProvider lists what this run has put into the bucket, or found there. Documents about
// versions come before the list of versions.
func (u *uploading) publishProvider(ctx context.Context, p getproviders.Provider, kept []archivedir.Kept) []error {
	if len(kept) == 0 {
		return nil
	}
	byVersion := map[getproviders.Version][]archivedir.Kept{}
	for _, k := range kept {
		byVersion[k.Selection.Version] = append(byVersion[k.Selection.Version], k)
	}
	versions := slices.SortedFunc(maps.Keys(byVersion), getproviders.Version.Compare)
	_, errs := par.Map(ctx, u.mirror.dir.Fetcher.Limits.WithDefaults().Queries, versions, func(ctx context.Context, v getproviders.Version) (struct{}, error) {
		return struct{}{}, u.publishVersion(ctx, p, v, byVersion[v])
	})
	if err := errors.Join(errs...); err != nil {
		return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	}
	err := u.changeIndex(ctx, p, func(listed map[string]struct{}) {
		for _, v := range versions {
			listed[v.String()] = struct{}{}
		}
	})
	if err == nil {
		err = u.checkPublished(ctx, p, kept)
	}
	if err != nil {
		return []error{err}
	}
	return nil
}

// publishVersion writes what is signed about a version, and then lists its archives.
func (u *uploading) publishVersion(ctx context.Context, p getproviders.Provider, v getproviders.Version, kept []archivedir.Kept) error {
	list := func(listed map[string]archivedir.ArchiveEntry) {
		for _, k := range kept {
			if !k.Present || listed[k.Platform.String()].URL == "" {
				listed[k.Platform.String()] = entryOf(k)
			}
		}
	}
	if err := u.publishDocuments(ctx, p, v, kept, list); err != nil {
		return err
	}
	return u.changeVersion(ctx, p, v, list)
}

// publishDocuments puts what is signed about a version into the bucket, where it is true of all
// archives that are listed, or will be. A list that became untrue by what this run did is removed,
// as it would keep people from installing.
func (u *uploading) publishDocuments(ctx context.Context, p getproviders.Provider, v getproviders.Version, kept []archivedir.Kept,
	list func(map[string]archivedir.ArchiveEntry)) error {
	var signed *getproviders.SignedDocuments
	changed := false
	for _, k := range kept {
		changed = changed || !k.Present
		if signed == nil {
			signed = k.Documents
		}
	}
	if signed == nil && !changed {
		return nil
	}
	document, _, err := u.readVersion(ctx, p, v)
	if err != nil {
		return err
	}
	list(document.Archives)
	if signed != nil && covers(*signed, p, v, document) {
		return u.putDocuments(ctx, p, v, *signed)
	}
	dir := archivedir.MirrorDir(p) + "/"
	sums, _, err := blob.ReadAll(ctx, u.bucket, dir+getproviders.ChecksumsName(p, v), maxDocument)
	if errors.Is(err, blob.ErrNotFound) || err == nil && covers(getproviders.SignedDocuments{Sums: sums}, p, v, document) {
		return nil
	}
	for _, name := range slices.Backward(archivedir.DocumentNames(p, v)) {
		if err == nil {
			err = u.bucket.Delete(ctx, dir+name)
		}
	}
	if err != nil {
		return &archivedir.Error{Path: u.mirror.path(dir + getproviders.ChecksumsName(p, v)), Err: err}
	}
	return nil
}

// covers reports whether a list is true of all archives of a version whose zh is known.
func covers(signed getproviders.SignedDocuments, p getproviders.Provider, v getproviders.Version, document archivedir.VersionDocument) bool {
	for name, entry := range document.Archives {
		plat, err := getproviders.ParsePlatform(name)
		if zh := receiptOf(entry).ZH; err == nil && zh != "" && !signed.Covers(p, v, plat, zh) {
			return false
		}
	}
	return true
}

// entryOf is what a document lists of an archive.
func entryOf(k archivedir.Kept) archivedir.ArchiveEntry {
	entry := archivedir.ArchiveEntry{URL: baseName(k.Name)}
	for _, h := range []getproviders.Hash{k.Known.Receipt.ArchiveH1(), k.Known.Receipt.ZH} {
		if h != "" {
			entry.Hashes = append(entry.Hashes, h)
		}
	}
	return entry
}

// checkPublished makes sure that no other publisher has removed what this run lists.
func (u *uploading) checkPublished(ctx context.Context, p getproviders.Provider, kept []archivedir.Kept) error {
	objects, err := u.list(ctx, p)
	if err != nil {
		return err
	}
	for _, k := range kept {
		for _, key := range []string{k.Name, versionKey(p, k.Selection.Version), indexKey(p)} {
			if _, ok := objects[key]; !ok {
				return &archivedir.Error{Path: u.mirror.path(key), Err: errors.New("another process removed it meanwhile; run it again")}
			}
		}
	}
	return nil
}
