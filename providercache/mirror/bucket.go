package mirror

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// UpdateBucket is Update for a bucket: the same tree, whose keys are the paths. Served by the
// bucket's own web server, or by any in front of it, it is a network mirror.
//
// Nothing is known of a bucket but what its documents say: they list the zh of each archive beside
// the h1, so that an archive which a document lists with a hash that the Source or a lock file
// knows isn't fetched. An archive never changes: where the bucket has other bytes under its name,
// that is an error, and they stay. Objects have a type and a lifetime for caches of HTTP; none is
// encoded.
//
// Several processes may publish to one bucket at once. A document is changed on the condition that
// it is still the one that was read, and read again if it isn't. Where the service has no such
// condition, it is written, and read again until it has what this run published; an update that is
// lost all the same is made again by the next run. With Prune, the Specs have to name all packages
// that are to stay, those of other publishers, too, and PruneGrace is measured by the service's
// clock against that of the Fetcher.
//
// The errors are those of Update.
func UpdateBucket(ctx context.Context, f *fetcher.Fetcher, bucket blob.Bucket, opts Options, wanted []Spec) (Result, error) {
	switch {
	case f.Source == nil:
		return Result{}, errors.New("a Fetcher needs a Source")
	case opts.Prune && len(wanted) == 0:
		return Result{}, errNothingWanted
	}
	temporary, err := scratch.Temporary()
	if err != nil {
		return Result{}, err
	}
	defer temporary.Remove()
	inBucket := func(name string) string { return bucket.String() + "/" + name }
	u := &uploading{
		mirror: &mirror{dir: archivedir.Dir{Fetcher: f, Root: temporary.Path}, opts: opts, path: inBucket},
		bucket: bucket, directory: temporary.Path,
	}
	packages, errs := u.mirror.choose(ctx, wanted)
	f.Emit(ctx, archivedir.QueuedEvent{Packages: archivedir.PackagesOf(packages)})
	there, failed := u.look(ctx, packages)
	if failed != nil {
		return Result{Packages: archivedir.PackagesOf(packages)}, errors.Join(append(errs, failed)...)
	}
	kept := u.fetchAll(ctx, packages, there)
	result := Result{}
	for _, k := range kept {
		result.Packages = append(result.Packages, k.Package)
		errs = append(errs, k.Err)
	}
	slices.SortStableFunc(errs, lockhashes.ByProvider)
	if ctx.Err() != nil {
		return result, errors.Join(errs...)
	}
	done := u.publish(ctx, kept, errors.Join(errs...) == nil)
	result.Pruned, result.Waiting = done.pruned, done.waiting
	return result, errors.Join(append(errs, done.errs...)...)
}

// uploading is one run of UpdateBucket.
type uploading struct {
	mirror    *mirror
	bucket    blob.Bucket
	directory string // for archives on their way
}

// contents is what the bucket has of one provider.
type contents struct {
	objects  map[string]blob.Info // by keys
	versions map[getproviders.Version]archivedir.VersionDocument
}

// entry is what a document says of an archive that is there.
func (c contents) entry(p archivedir.Item) (archivedir.ArchiveEntry, bool) {
	entry, ok := c.versions[p.Selection.Version].Archives[p.Platform.String()]
	_, exists := c.objects[p.Name]
	return entry, ok && exists && archivedir.MirrorDir(p.Selection.Provider)+"/"+entry.URL == p.Name
}

// look finds out what the bucket has of the providers and versions that are wanted.
func (u *uploading) look(ctx context.Context, packages []archivedir.Item) (map[getproviders.Provider]contents, error) {
	var providers []getproviders.Provider
	versions := map[getproviders.Provider][]getproviders.Version{}
	for _, p := range packages {
		s := p.Selection
		if versions[s.Provider] == nil {
			providers = append(providers, s.Provider)
		}
		if !slices.Contains(versions[s.Provider], s.Version) {
			versions[s.Provider] = append(versions[s.Provider], s.Version)
		}
	}
	limit := u.mirror.dir.Fetcher.Limits.WithDefaults().Queries
	found, errs := par.Map(ctx, limit, providers, func(ctx context.Context, p getproviders.Provider) (contents, error) {
		objects, err := u.list(ctx, p)
		if err != nil {
			return contents{}, err
		}
		there := contents{objects: objects, versions: map[getproviders.Version]archivedir.VersionDocument{}}
		listed := slices.DeleteFunc(versions[p], func(v getproviders.Version) bool {
			_, ok := objects[versionKey(p, v)]
			return !ok
		})
		documents, errs := par.Map(ctx, limit, listed, func(ctx context.Context, v getproviders.Version) (archivedir.VersionDocument, error) {
			document, _, err := u.readVersion(ctx, p, v)
			return document, err
		})
		for i, v := range listed {
			there.versions[v] = documents[i]
		}
		return there, errors.Join(errs...)
	})
	all := map[getproviders.Provider]contents{}
	for i, p := range providers {
		all[p] = found[i]
	}
	return all, errors.Join(errs...)
}

// list returns the objects of a provider, by their keys.
func (u *uploading) list(ctx context.Context, p getproviders.Provider) (map[string]blob.Info, error) {
	objects := map[string]blob.Info{}
	for info, err := range u.bucket.List(ctx, archivedir.MirrorDir(p)+"/") {
		if err != nil {
			return nil, &archivedir.Error{Path: u.mirror.path(archivedir.MirrorDir(p)), Err: err}
		}
		objects[info.Key] = info
	}
	return objects, nil
}

// fetchAll has all packages in the bucket that can be had.
func (u *uploading) fetchAll(ctx context.Context, packages []archivedir.Item, there map[getproviders.Provider]contents) []archivedir.Kept {
	indexes := make([]int, len(packages))
	for i := range packages {
		indexes[i] = i
	}
	f := u.mirror.dir.Fetcher
	kept, errs := par.Map(ctx, f.Limits.WithDefaults().Queries, indexes, func(ctx context.Context, i int) (archivedir.Kept, error) {
		p := packages[i]
		k, err := u.get(ctx, p, there[p.Selection.Provider], filepath.Join(u.directory, strconv.Itoa(i)))
		if err != nil {
			k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
		}
		f.Emit(ctx, archivedir.DoneEvent{Package: k.Package})
		return k, nil
	})
	for i, err := range errs {
		if err != nil { // it was never begun
			kept[i] = archivedir.Kept{Item: packages[i]}
			kept[i].Err = resolve.OnPlatform(ctx, packages[i].Selection, packages[i].Platform, err)
		}
	}
	return kept
}

// get finds a package in the bucket, or fetches it to a file and puts it there.
func (u *uploading) get(ctx context.Context, p archivedir.Item, there contents, file string) (archivedir.Kept, error) {
	k, dir := archivedir.Kept{Item: p}, &u.mirror.dir
	entry, listed := there.entry(p)
	known := receipt.Pending{Name: p.Name, Dir: p.Path, Archive: true, Receipt: receiptOf(entry)}
	if listed && slices.ContainsFunc(p.Recorded, func(h getproviders.Hash) bool { return slices.Contains(entry.Hashes, h) }) {
		k.Present, k.Known = true, known
		if err := dir.Approve(ctx, fetcher.Request{Selection: p.Selection}, k); err != nil {
			return k, err
		}
		if _, signed := there.objects[signatureKey(p.Selection)]; !signed {
			dir.Document(ctx, &k)
		}
		return k, nil
	}
	pkg, err := dir.Fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if err != nil {
		return k, p.Selection.Failed(resolve.StepMetadata, err)
	}
	t := fetcher.Request{Selection: p.Selection, Package: pkg}
	if listed {
		if k.Present, err = u.mirror.isCurrent(ctx, t, &k, known.Receipt); err != nil || k.Present {
			k.Known = known
			if err == nil {
				err = dir.Approve(ctx, t, k)
			}
			return k, err
		}
	}
	return u.upload(ctx, t, k, file)
}

// receiptOf is what a document says of an archive.
func receiptOf(entry archivedir.ArchiveEntry) (r receipt.Receipt) {
	for _, h := range entry.Hashes {
		switch h.Scheme() {
		case getproviders.SchemeZH:
			r.ZH = h
		case getproviders.SchemeH1:
			r.H1 = h
		}
	}
	return r
}

// upload fetches an archive, and puts it into the bucket.
func (u *uploading) upload(ctx context.Context, t fetcher.Request, k archivedir.Kept, file string) (archivedir.Kept, error) {
	if err := archivedir.CheckPacked(t); err != nil {
		return k, err
	}
	f := u.mirror.dir.Fetcher
	f.Emit(ctx, archivedir.FetchingEvent{Package: k.Package, Local: fetcher.IsLocal(t)})
	defer os.Remove(file)
	got, err := f.FetchArchive(ctx, t, file, "")
	if err != nil {
		return k, err
	}
	if err := u.putArchive(ctx, k.Name, file, got.ZH); err != nil {
		return k, t.Failed(resolve.StepPublish, err)
	}
	k.Authentication = got.Authentication
	k.Known = receipt.Pending{Name: k.Name, Dir: k.Path, Archive: true, Receipt: got.Receipt(receipt.StatRecord{})}
	k.Documents = archivedir.SignedDocuments(ctx, t, k.Platform, got.ZH)
	return k, nil
}
