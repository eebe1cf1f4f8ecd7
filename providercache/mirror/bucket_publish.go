package mirror

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
)

// providers returns, if it prunes, the providers that have any object in the bucket.
func (b *inBucket) providers(ctx context.Context, prune bool) (found []getproviders.Provider, err error) {
	if !prune {
		return nil, nil
	}
	seen := map[string]bool{}
	for info, err := range b.bucket.List(ctx, "") {
		if err != nil {
			return nil, archivedir.Unlisted(b.bucket.String(), err)
		}
		parts := strings.Split(info.Key, "/")
		if len(parts) != 4 || seen[strings.Join(parts[:3], "/")] {
			continue
		}
		seen[strings.Join(parts[:3], "/")] = true
		p, err := b.Fetcher.Product.ParseProvider(strings.Join(parts[:3], "/"))
		if err == nil && archivedir.MirrorDir(p) == strings.Join(parts[:3], "/") {
			found = append(found, p)
		}
	}
	return found, nil
}

// publish lists the archives that this run has put into the bucket, or found
// there. It writes documents about versions before the list of versions.
func (b *inBucket) publish(ctx context.Context, p getproviders.Provider, kept []*archivedir.Kept, _ bool) (done published) {
	kept = slices.DeleteFunc(slices.Clone(kept), func(k *archivedir.Kept) bool { return k.Err != nil })
	if len(kept) == 0 {
		return done
	}
	byVersion := map[getproviders.Version][]*archivedir.Kept{}
	for _, k := range kept {
		byVersion[k.Version] = append(byVersion[k.Version], k)
	}
	versions := slices.SortedFunc(maps.Keys(byVersion), getproviders.Version.Compare)
	_, errs := par.Map(ctx, b.Fetcher.Limits.Queries, versions, func(ctx context.Context, v getproviders.Version) (struct{}, error) {
		return struct{}{}, b.publishVersion(ctx, p, v, byVersion[v])
	})
	done.errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(done.errs) > 0 {
		return done
	}
	err := changeDocument(ctx, b, indexKey(p), versionsListed, func(listed map[string]struct{}) {
		for _, v := range versions {
			listed[v.String()] = struct{}{}
		}
	})
	if err == nil {
		err = b.checkPublished(ctx, p, kept)
	}
	if err != nil {
		done.errs = append(done.errs, err)
	}
	return done
}

// publishVersion writes the signed documents of a version, and then lists its archives.
func (b *inBucket) publishVersion(ctx context.Context, p getproviders.Provider, v getproviders.Version, kept []*archivedir.Kept) error {
	list := func(listed map[string]archivedir.ArchiveEntry) {
		for _, k := range kept {
			if !k.Present || listed[k.Platform.String()].URL == "" {
				listed[k.Platform.String()] = entryOf(k)
			}
		}
	}
	err := archivedir.PublishDocuments(ctx, b, p, v, kept, func() (map[getproviders.Platform]getproviders.Hash, error) {
		listed, _, err := readDocument[archivedir.ArchiveEntry](ctx, b, versionKey(p, v), archivesListed)
		list(listed)
		archives := map[getproviders.Platform]getproviders.Hash{}
		for name, entry := range listed {
			if plat, err := getproviders.ParsePlatform(name); err == nil {
				archives[plat] = receiptOf(entry).ZH
			}
		}
		return archives, err
	})
	if err != nil {
		return err
	}
	return changeDocument(ctx, b, versionKey(p, v), archivesListed, list)
}

// entryOf returns a document's entry for an archive.
func entryOf(k *archivedir.Kept) archivedir.ArchiveEntry {
	entry := archivedir.ArchiveEntry{URL: baseName(k.Name)}
	for _, h := range []getproviders.Hash{k.Known.Receipt.ArchiveH1(), k.Known.Receipt.ZH} {
		if h != "" {
			entry.Hashes = append(entry.Hashes, h)
		}
	}
	return entry
}

// checkPublished returns an error if another publisher has removed anything that this run lists.
func (b *inBucket) checkPublished(ctx context.Context, p getproviders.Provider, kept []*archivedir.Kept) error {
	objects, err := b.list(ctx, p)
	if err != nil {
		return err
	}
	for _, k := range kept {
		for _, key := range []string{k.Name, versionKey(p, k.Version), indexKey(p)} {
			if _, ok := objects[key]; !ok {
				return b.unlisted(key, errors.New("another process removed it meanwhile; run it again"))
			}
		}
	}
	return nil
}

// unlist implements tree. A document that doesn't exist needs no change.
func (b *inBucket) unlist(ctx context.Context, p getproviders.Provider, names map[string]bool, versions map[getproviders.Version]bool) error {
	err := changeDocument(ctx, b, indexKey(p), versionsListed, func(listed map[string]struct{}) {
		for text := range listed {
			if v, err := getproviders.ParseVersion(text); err != nil || !versions[v] {
				delete(listed, text)
			}
		}
	})
	if err != nil {
		return err
	}
	objects, err := b.list(ctx, p)
	for key := range objects {
		v, ok := versionOf(key)
		if !ok || err != nil {
			continue
		}
		err = changeDocument(ctx, b, versionKey(p, v), archivesListed, func(listed map[string]archivedir.ArchiveEntry) {
			for plat, entry := range listed {
				if !names[archivedir.MirrorDir(p)+"/"+entry.URL] {
					delete(listed, plat)
				}
			}
		})
	}
	return err
}
