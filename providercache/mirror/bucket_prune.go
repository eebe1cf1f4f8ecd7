package mirror

import (
	"context"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/blob"
)

// bucketPruning takes what isn't wanted out of one provider's part of a bucket, as pruning does it in a directory.
type bucketPruning struct {
	upload   *uploading
	provider getproviders.Provider
	wanted   map[string]bool               // keys of archives
	versions map[getproviders.Version]bool // that have one
	objects  map[string]blob.Info          // after the documents were written
	removed  []string
	waiting  []string
	errs     []error
}

// prune takes what isn't wanted out of the list of versions, then out of the documents about
// versions. When it has been out of them for long enough, archives are removed, then what is signed
// about them, and the documents last.
func (u *uploading) prune(ctx context.Context, p getproviders.Provider, kept []archivedir.Kept) *bucketPruning {
	b := &bucketPruning{upload: u, provider: p, wanted: map[string]bool{}, versions: map[getproviders.Version]bool{}}
	for _, k := range kept {
		b.wanted[k.Name], b.versions[k.Selection.Version] = true, true
	}
	if b.unlist(ctx); len(b.errs) > 0 {
		return b
	}
	var err error
	if b.objects, err = u.list(ctx, p); err != nil {
		b.errs = append(b.errs, err)
		return b
	}
	for key := range b.objects {
		if v, _, ok := getproviders.ParsePackedName(baseName(key), p.Type); ok && !b.wanted[key] {
			b.removeArchive(ctx, key, v)
		}
	}
	for _, v := range b.dropped() {
		b.removeVersion(ctx, v)
	}
	if _, there := b.objects[indexKey(p)]; there && len(b.versions) == 0 && len(b.waiting) == 0 && b.unlisted(indexKey(p)) {
		b.remove(ctx, indexKey(p))
	}
	return b
}

// unlist takes what isn't wanted out of the documents. A document that doesn't exist needs nothing.
func (b *bucketPruning) unlist(ctx context.Context) {
	err := b.upload.changeIndex(ctx, b.provider, func(listed map[string]struct{}) {
		for text := range listed {
			if v, err := getproviders.ParseVersion(text); err != nil || !b.versions[v] {
				delete(listed, text)
			}
		}
	})
	if err == nil {
		b.objects, err = b.upload.list(ctx, b.provider)
	}
	for key := range b.objects {
		v, ok := versionOf(key)
		if !ok || err != nil {
			continue
		}
		err = b.upload.changeVersion(ctx, b.provider, v, func(listed map[string]archivedir.ArchiveEntry) {
			for plat, entry := range listed {
				if !b.wanted[archivedir.MirrorDir(b.provider)+"/"+entry.URL] {
					delete(listed, plat)
				}
			}
		})
	}
	if err != nil {
		b.errs = append(b.errs, err)
	}
}

// versionOf is the version that a document with this key is about.
func versionOf(key string) (v getproviders.Version, ok bool) {
	text, ok := strings.CutSuffix(baseName(key), ".json")
	if !ok {
		return v, false
	}
	v, err := getproviders.ParseVersion(text)
	return v, err == nil && archivedir.VersionName(v) == baseName(key)
}

// dropped are the versions that something is there about, and no archive that is wanted.
func (b *bucketPruning) dropped() (versions []getproviders.Version) {
	for key := range b.objects {
		v, ok := versionOf(key)
		if !ok {
			v, ok = getproviders.ParseDocumentName(baseName(key), b.provider)
		}
		if ok && !b.versions[v] {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, getproviders.Version.Compare)
	return slices.Compact(versions)
}

// unlisted reports whether a document has been as it is for as long as a client may still go by what it was before.
func (b *bucketPruning) unlisted(key string) bool {
	info, there := b.objects[key]
	grace := b.upload.mirror.opts.PruneGrace
	return !there || grace <= 0 || b.upload.mirror.dir.Fetcher.Time().Sub(info.Modified) >= grace
}

func (b *bucketPruning) removeArchive(ctx context.Context, key string, v getproviders.Version) {
	if b.unlisted(versionKey(b.provider, v)) {
		b.remove(ctx, key)
	} else {
		b.waiting = append(b.waiting, key)
	}
}

// removeVersion removes all about a version of which no archive is there any more.
func (b *bucketPruning) removeVersion(ctx context.Context, v getproviders.Version) {
	if !b.unlisted(versionKey(b.provider, v)) {
		return
	}
	for _, name := range slices.Backward(archivedir.DocumentNames(b.provider, v)) {
		b.remove(ctx, archivedir.MirrorDir(b.provider)+"/"+name)
	}
	b.remove(ctx, versionKey(b.provider, v))
}

func (b *bucketPruning) remove(ctx context.Context, key string) {
	if _, there := b.objects[key]; !there {
		return
	}
	if err := b.upload.bucket.Delete(ctx, key); err != nil {
		b.errs = append(b.errs, &archivedir.Error{Path: b.upload.mirror.path(key), Err: err})
		return
	}
	b.removed = append(b.removed, key)
}
