package mirror

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Bucket returns a destination that is a bucket: it gets the same tree as a [Directory], with
// paths as keys. Served by the bucket's own web server, or by a proxy, it is a network mirror.
//
// The bucket's documents are all that Update knows of its content: they list the zh of each archive beside the h1, and
// an archive with a hash that the Source or a lock file knows isn't fetched. An archive never changes: if the bucket
// has other bytes under its name, that is an error, and they stay, unless Verify finds that they aren't what the
// document lists. Objects have a content type and a Cache-Control header, and no content encoding.
//
// Several processes may publish to one bucket at once. A document is written on the condition that it hasn't changed since it was
// read; otherwise it is read again. If the service doesn't support the conditions, the document is written, and read again until it has what
// this run published; an update that is lost all the same is repeated by the next run. With Prune, the Specs have to name all packages
// that are to stay, also those of other publishers. PruneGrace compares the service's clock with that of the Fetcher.
func Bucket(to blob.Bucket) Destination { return bucket{to} }

type bucket struct{ blob.Bucket }

func (to bucket) open(m *run) error {
	b := &inBucket{Dir: &m.dir, bucket: to.Bucket}
	m.place, m.tree = b, b
	return m.temporary()
}

// inBucket is one run for a bucket.
type inBucket struct {
	*archivedir.Dir // where archives are staged
	bucket          blob.Bucket
	objects         map[getproviders.Provider]map[string]blob.Info // by keys
	listed          map[release]map[string]archivedir.ArchiveEntry // by platforms
}

func (b *inBucket) at(key string) string { return b.bucket.String() + "/" + key }

func (b *inBucket) path(_ getproviders.Selection, name string) string { return b.at(name) }

// look lists the objects of the wanted providers, and reads the documents of the wanted versions.
func (b *inBucket) look(ctx context.Context, packages []archivedir.Item) error {
	b.objects, b.listed = map[getproviders.Provider]map[string]blob.Info{}, map[release]map[string]archivedir.ArchiveEntry{}
	var providers []getproviders.Provider
	for _, p := range packages {
		providers = append(providers, p.Provider)
	}
	providers = slices.Compact(providers)
	objects, errs := par.Map(ctx, b.Fetcher.Limits.Queries, providers, b.list)
	for i, p := range providers {
		b.objects[p] = objects[i]
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	groups := byVersion(packages)
	documents, errs := par.Map(ctx, b.Fetcher.Limits.Queries, groups, func(ctx context.Context, group []archivedir.Item) (listed map[string]archivedir.ArchiveEntry, err error) {
		p, key := group[0].Provider, versionKey(group[0].Provider, group[0].Version)
		if _, exists := b.objects[p][key]; exists {
			listed, _, err = readDocument[archivedir.ArchiveEntry](ctx, b, key, archivesListed)
		}
		return listed, err
	})
	for i, group := range groups {
		b.listed[releaseOf(group[0])] = documents[i]
	}
	return errors.Join(errs...)
}

// list returns a provider's objects by key.
func (b *inBucket) list(ctx context.Context, p getproviders.Provider) (map[string]blob.Info, error) {
	objects := map[string]blob.Info{}
	for info, err := range b.bucket.List(ctx, archivedir.MirrorDir(p)+"/") {
		if err != nil {
			return nil, b.unlisted(archivedir.MirrorDir(p), err)
		}
		objects[info.Key] = info
	}
	return objects, nil
}

// find implements place, from the document about the version.
func (b *inBucket) find(_ context.Context, p archivedir.Item) (c archivedir.Claim, _ error) {
	objects := b.objects[p.Provider]
	entry, listed := b.listed[releaseOf(p)][p.Platform.String()]
	if _, exists := objects[p.Name]; exists && listed && archivedir.MirrorDir(p.Provider)+"/"+entry.URL == p.Name {
		c.Known = p.Pending(receiptOf(entry), true)
		c.Has = func(h getproviders.Hash) bool { return slices.Contains(entry.Hashes, h) }
		c.Open = func(ctx context.Context) (io.ReadCloser, error) {
			object, err := b.bucket.Get(ctx, p.Name, blob.GetOptions{})
			if err != nil {
				return nil, err
			}
			return object.Body, nil
		}
	}
	_, c.Signed = objects[archivedir.DocumentNames(p.Provider, p.Version)[2]]
	return c, nil
}

// receiptOf returns the hashes of an archive's entry in a document.
func receiptOf(entry archivedir.ArchiveEntry) (r receipt.Receipt) {
	for _, h := range entry.Hashes {
		switch h.Scheme() {
		case hashing.ZH:
			r.ZH = h
		case hashing.H1:
			r.H1 = h
		}
	}
	return r
}
