package mirror

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/providercache/archivedir"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Registry is where archives are published that has no files, but versions with archives for platforms: a registry of
// container images, as package providercache/oci has it. It is safe for many goroutines.
type Registry interface {
	// Published returns what there is of a version, without archives; nothing if there is no such version. signed:
	// there is something that its publisher has signed.
	Published(ctx context.Context, p getproviders.Provider, v getproviders.Version) (archives []RegistryArchive, signed bool, err error)
	// Publish adds archives to a version, all or none. An archive that is there is never replaced by another one: that
	// is an error. What the publisher has signed comes with them, if it is true of all archives that are there then;
	// nil: it isn't known.
	Publish(ctx context.Context, p getproviders.Provider, v getproviders.Version, archives []RegistryArchive, signed *getproviders.SignedDocuments) error
	// Path names a version for people.
	Path(p getproviders.Provider, v getproviders.Version) string
}

// RegistryArchive is the archive for a platform.
type RegistryArchive struct {
	Platform getproviders.Platform
	ZH       getproviders.Hash
	H1       getproviders.Hash // of its files; "": not known
	Archive  *io.SectionReader // what is to be published
	// From is where that comes from: the registry may have it in another place.
	From getproviders.Location
}

// UpdateRegistry is Update for a registry: versions get the archives that they lack. Nothing that is published changes
// or goes away, so that Prune is an error. What publishers have signed is published with the archives.
//
// The errors are those of Update.
func UpdateRegistry(ctx context.Context, f *fetcher.Fetcher, registry Registry, opts Options, wanted []Spec) (Result, error) {
	switch {
	case f.Source == nil:
		return Result{}, errors.New("a Fetcher needs a Source")
	case opts.Prune:
		return Result{}, errors.New("nothing can be removed from a registry: its own tools do that")
	}
	temporary, err := scratch.Temporary()
	if err != nil {
		return Result{}, err
	}
	defer temporary.Remove()
	u := &publishing{
		mirror:   &mirror{dir: archivedir.Dir{Fetcher: f, Root: temporary.Path}, opts: opts, path: func(name string) string { return name }},
		registry: registry, directory: temporary.Path,
	}
	packages, errs := u.mirror.choose(ctx, wanted)
	for i := range packages {
		p := &packages[i]
		p.Path = registry.Path(p.Selection.Provider, p.Selection.Version)
	}
	f.Emit(ctx, archivedir.QueuedEvent{Packages: archivedir.PackagesOf(packages)})
	var versions [][]archivedir.Item
	for _, p := range packages {
		last := len(versions) - 1
		if last >= 0 && versions[last][0].Selection.Provider == p.Selection.Provider && versions[last][0].Selection.Version == p.Selection.Version {
			versions[last] = append(versions[last], p)
		} else {
			versions = append(versions, []archivedir.Item{p})
		}
	}
	indexes := make([]int, len(versions))
	for i := range versions {
		indexes[i] = i
	}
	kept, failed := par.Map(ctx, f.Limits.WithDefaults().Queries, indexes, func(ctx context.Context, i int) ([]archivedir.Kept, error) {
		return u.version(ctx, versions[i], filepath.Join(u.directory, strconv.Itoa(i))), nil
	})
	result := Result{}
	for i, err := range failed {
		if err != nil { // it was never begun
			kept[i] = allFailed(ctx, versions[i], err)
		}
		for _, k := range kept[i] {
			result.Packages = append(result.Packages, k.Package)
			errs = append(errs, k.Err)
		}
	}
	slices.SortStableFunc(errs, lockhashes.ByProvider)
	return result, errors.Join(errs...)
}

func allFailed(ctx context.Context, packages []archivedir.Item, err error) (kept []archivedir.Kept) {
	for _, p := range packages {
		k := archivedir.Kept{Item: p}
		k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
		kept = append(kept, k)
	}
	return kept
}

// publishing is one run of UpdateRegistry.
type publishing struct {
	mirror    *mirror
	registry  Registry
	directory string // for archives on their way
}

// version has all packages of a version in the registry that can be had. They are published together, so that the
// version changes once.
func (u *publishing) version(ctx context.Context, packages []archivedir.Item, prefix string) (kept []archivedir.Kept) {
	s, f := packages[0].Selection, u.mirror.dir.Fetcher
	there, signed, err := u.registry.Published(ctx, s.Provider, s.Version)
	if err != nil {
		kept = allFailed(ctx, packages, s.Failed(resolve.StepPublish, err))
		for _, k := range kept {
			f.Emit(ctx, archivedir.DoneEvent{Package: k.Package})
		}
		return kept
	}
	var fetched []RegistryArchive
	for i, p := range packages {
		k, archive, err := u.get(ctx, p, there, signed, prefix+"-"+strconv.Itoa(i))
		if archive != nil {
			file, openErr := os.Open(archive.path)
			if err = openErr; err == nil {
				defer os.Remove(archive.path)
				defer file.Close()
				archive.Archive = io.NewSectionReader(file, 0, archive.size)
				fetched = append(fetched, archive.RegistryArchive)
			}
		}
		if err != nil {
			k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
		}
		kept = append(kept, k)
	}
	var documents *getproviders.SignedDocuments
	for _, k := range kept {
		if documents == nil && k.Err == nil {
			documents = k.Documents
		}
	}
	if len(fetched) > 0 || documents != nil && !signed {
		err = u.registry.Publish(ctx, s.Provider, s.Version, fetched, documents)
	}
	for i := range kept {
		if k := &kept[i]; err != nil && k.Err == nil && (!k.Present || k.Documents != nil) {
			k.Err = resolve.OnPlatform(ctx, k.Selection, k.Platform, s.Failed(resolve.StepPublish, err))
		}
		f.Emit(ctx, archivedir.DoneEvent{Package: kept[i].Package})
	}
	return kept
}

// fetchedArchive is an archive in a file.
type fetchedArchive struct {
	RegistryArchive
	path string
	size int64
}

// get finds a package in the registry, or fetches it to a file.
func (u *publishing) get(ctx context.Context, p archivedir.Item, there []RegistryArchive, signed bool, path string) (archivedir.Kept, *fetchedArchive, error) {
	k, dir := archivedir.Kept{Item: p}, &u.mirror.dir
	known := receipt.Pending{Name: p.Name, Dir: p.Path, Archive: true}
	i := slices.IndexFunc(there, func(a RegistryArchive) bool { return a.Platform == p.Platform })
	if i >= 0 {
		known.Receipt.ZH, known.Receipt.H1 = there[i].ZH, there[i].H1
	}
	if i >= 0 && slices.ContainsFunc(p.Recorded, func(h getproviders.Hash) bool { return h == there[i].ZH || h == there[i].H1 }) {
		k.Present, k.Known = true, known
		if !signed {
			dir.Document(ctx, &k)
		}
		return k, nil, dir.Approve(ctx, fetcher.Request{Selection: p.Selection}, k)
	}
	pkg, err := dir.Fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if err != nil {
		return k, nil, p.Selection.Failed(resolve.StepMetadata, err)
	}
	t := fetcher.Request{Selection: p.Selection, Package: pkg}
	if i >= 0 {
		if k.Present, err = u.mirror.isCurrent(ctx, t, &k, known.Receipt); err != nil || k.Present {
			if k.Known = known; err == nil {
				err = dir.Approve(ctx, t, k)
			}
			return k, nil, err
		}
	}
	if err := archivedir.CheckPacked(t); err != nil {
		return k, nil, err
	}
	dir.Fetcher.Emit(ctx, archivedir.FetchingEvent{Package: k.Package, Local: fetcher.IsLocal(t)})
	got, err := dir.Fetcher.FetchArchive(ctx, t, path, "")
	if err != nil {
		return k, nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return k, nil, err
	}
	k.Authentication = got.Authentication
	k.Known = receipt.Pending{Name: p.Name, Dir: p.Path, Archive: true, Receipt: got.Receipt(receipt.StatRecord{})}
	k.Documents = archivedir.SignedDocuments(ctx, t, p.Platform, got.ZH)
	return k, &fetchedArchive{RegistryArchive{Platform: p.Platform, ZH: got.ZH, H1: got.H1, From: pkg.Location}, path, info.Size()}, nil
}
