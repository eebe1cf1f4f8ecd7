package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// Directory returns a destination that is a directory, which is made if it doesn't exist. It gets the tree that
// Terraform writes, and its indexes list all archives in it. The hashes of an archive come from receipts in the
// Fetcher's StateDir, or from reading it. Before an archive's bytes are replaced, it is removed from the index.
func Directory(path string) Destination { return directory(path) }

type directory string

func (path directory) open(m *run) error {
	if info, err := os.Stat(string(path)); err == nil && !info.IsDir() {
		return fmt.Errorf("a mirror is a directory, and %s is a file: name another path", string(path))
	}
	made, err := scratch.MakeDirs(string(path))
	if err != nil {
		scratch.RemoveEmpty(made)
		return fmt.Errorf("the mirror's directory can't be made: %w. Name one that this user may write to", err)
	}

	m.abandon = func() { scratch.RemoveEmpty(made) }
	f := m.dir.Fetcher
	scratch.Sweep(string(path), f.Now())
	m.dir.Root, m.dir.Receipts = string(path), receipt.OpenArchives(f.StateDir, string(path))
	d := &inDirectory{&m.dir, m.opts.Verify}
	m.place, m.tree = d, d
	return nil
}

// inDirectory is one run for a directory.
type inDirectory struct {
	*archivedir.Dir
	verify bool
}

func (d *inDirectory) path(_ getproviders.Selection, name string) string { return d.Path(name) }

func (d *inDirectory) look(context.Context, []archivedir.Item) error { return nil }

// find identifies an archive. An archive that can't be read is replaced.
func (d *inDirectory) find(ctx context.Context, p archivedir.Item) (c archivedir.Claim, _ error) {
	if err := store.Holds(p.Provider, runtime.GOOS); err != nil {
		return c, err
	}
	if there, err := d.Find(ctx, p.Provider, p.Name); err == nil {
		c = archivedir.Claim{Known: there, Has: there.Receipt.Has, Same: there, Read: there.Receipt.Taken.IsZero()}
	} else if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if d.verify {
		c.Open = func(context.Context) (io.ReadCloser, error) { return os.Open(d.Path(p.Name)) }
		c.Listed = d.listed(ctx, p)
	}
	return c, nil
}

// listed returns the hash of an archive in the signed checksums beside it, or
// else its hashes in the document about its version; nil if neither has it.
func (d *inDirectory) listed(ctx context.Context, p archivedir.Item) []getproviders.Hash {
	of, v := p.Selection.Provider, p.Selection.Version
	if signed, ok := of.ReadSignedDocuments(d.Path(archivedir.MirrorDir(of)), v); ok {
		if zh := signed.Archives(of, v)[p.Platform]; zh != "" {
			return []getproviders.Hash{zh}
		}
	}
	var document archivedir.VersionDocument
	content, err := d.Read(ctx, versionKey(of, v))
	if err != nil || json.Unmarshal(content, &document) != nil {
		return nil // it is written again
	}
	entry := document.Archives[p.Platform.String()]
	if entry.URL != baseName(p.Name) {
		return nil
	}
	return entry.Hashes
}

// Put publishes an archive, unless its path has another archive: publish replaces that one.
func (d *inDirectory) Put(ctx context.Context, kept []archivedir.Kept) (err error) {
	for i := range kept {
		k := &kept[i]
		if _, absent := os.Stat(k.Path); k.Stage != nil && errors.Is(absent, fs.ErrNotExist) {
			err = k.Publish(ctx)
		}
		k.Source, k.Bytes = k.From.Source, k.Known.Receipt.ArchiveBytes
	}
	return err
}

// providers returns all providers in the directory: two processes that write one mirror would otherwise each list only their own packages.
func (d *inDirectory) providers(ctx context.Context, _ bool) ([]getproviders.Provider, error) {
	there, err := (&getproviders.FilesystemMirrorSource{Dir: d.Root}).Providers(ctx)
	if err != nil {
		return nil, archivedir.Unlisted(d.Root, err)
	}
	return there, nil
}

func (d *inDirectory) publish(ctx context.Context, p getproviders.Provider, all []*archivedir.Kept, prune bool) (done published) {
	kept := map[string]*archivedir.Kept{}
	for _, k := range all {
		kept[k.Name] = k
	}
	listing, errs := d.List(ctx, p, kept, prune)
	done.known, done.errs = listing.All(), errs
	for _, write := range []func(context.Context, archivedir.Listing, map[string]*archivedir.Kept) []error{d.replaceArchives, d.writeDocuments, d.writeIndexes} {
		if len(done.errs) == len(errs) {
			done.errs = append(done.errs, write(ctx, listing, kept)...)
		}
	}
	return done
}

// replaceArchives replaces archives by those with other bytes. The index doesn't list them meanwhile.
func (d *inDirectory) replaceArchives(ctx context.Context, listing archivedir.Listing, kept map[string]*archivedir.Kept) (errs []error) {
	there := func(p receipt.Pending) bool { return kept[p.Name] == nil || kept[p.Name].Stage == nil }
	for _, v := range listing.SortedVersions() {
		due := slices.DeleteFunc(slices.Collect(maps.Values(listing.Versions[v])), there)
		if len(due) == 0 {
			continue
		}
		err := d.Write(ctx, versionKey(listing.Provider, v), listing.Version(v, there))
		if err == nil {
			err = archivedir.RemoveDocuments(ctx, d.Dir, listing.Provider, v) // their signature doesn't cover the new bytes
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, p := range due {
			if err := kept[p.Name].Publish(ctx); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// writeIndexes writes the documents that change: those about versions first,
// so that the list of versions never names one without a document.
func (d *inDirectory) writeIndexes(ctx context.Context, listing archivedir.Listing, _ map[string]*archivedir.Kept) (errs []error) {
	for _, v := range listing.SortedVersions() {
		if err := d.Write(ctx, versionKey(listing.Provider, v), listing.Version(v, nil)); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 || len(listing.Versions) == 0 {
		return errs
	}
	if err := d.Write(ctx, indexKey(listing.Provider), listing.Index()); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// writeDocuments writes the signed checksums of versions beside their archives, before an index lists these.
func (d *inDirectory) writeDocuments(ctx context.Context, listing archivedir.Listing, kept map[string]*archivedir.Kept) (errs []error) {
	for _, v := range listing.SortedVersions() {
		var ofVersion []*archivedir.Kept
		for _, name := range slices.Sorted(maps.Keys(kept)) {
			if k := kept[name]; k.Version == v && k.Err == nil {
				ofVersion = append(ofVersion, k)
			}
		}
		err := archivedir.PublishDocuments(ctx, d.Dir, listing.Provider, v, ofVersion, func() (map[getproviders.Platform]getproviders.Hash, error) {
			archives := map[getproviders.Platform]getproviders.Hash{}
			for plat, p := range listing.Versions[v] {
				archives[plat] = p.Receipt.ZH
			}
			return archives, nil
		})
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// unlist empties the documents that publish hasn't written.
func (d *inDirectory) unlist(ctx context.Context, p getproviders.Provider, _ map[string]bool, versions map[getproviders.Version]bool) error {
	files, err := d.list(ctx, p)
	empty := func(name string, document any) {
		if _, there := files[name]; there {
			err = errors.Join(err, d.Write(ctx, name, archivedir.Encode(document)))
		}
	}
	if len(versions) == 0 {
		empty(indexKey(p), archivedir.IndexDocument{Versions: map[string]struct{}{}})
	}
	for _, v := range dropped(files, p, versions) {
		empty(versionKey(p, v), archivedir.VersionDocument{Archives: map[string]archivedir.ArchiveEntry{}})
	}
	return err
}

func (d *inDirectory) list(_ context.Context, p getproviders.Provider) (map[string]blob.Info, error) {
	dir := archivedir.MirrorDir(p)
	entries, err := os.ReadDir(d.Path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, archivedir.Unlisted(d.Path(dir), err)
	}
	files := map[string]blob.Info{}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			files[dir+"/"+entry.Name()] = blob.Info{Modified: info.ModTime()}
		}
	}
	return files, nil
}
