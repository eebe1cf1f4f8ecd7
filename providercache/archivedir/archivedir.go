// Package archivedir keeps packed packages in a directory: the archives, with what
// is signed about them. It is what mirrors (package mirror) and vendored packages
// (package vendoring) share, and not an API: use those packages. Only [Package],
// [Error] and the events are for their callers.
//
//	dir := archivedir.Dir{Fetcher: f, Root: root, Receipts: receipts}
//	found, err := dir.Find(ctx, provider, name)        // what an archive is
//	kept, err := dir.FetchInto(ctx, request, kept, found, exists)
//
// An archive appears in its place by one rename. What is signed about a version is
// kept only where it is true of every archive of the version: the signature comes
// last and goes first, because it announces the others.
package archivedir

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/scratch"
	"github.com/tfdeps/tfdeps/getproviders/wholefile"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/chunks"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
	"github.com/tfdeps/tfdeps/providercache/resolve"
)

// Package is a package of the directory.
type Package struct {
	Selection      resolve.Selection
	Platform       getproviders.Platform
	Path           string                            // of the archive
	Present        bool                              // it was there already
	Authentication getproviders.AuthenticationResult // zero for what was there, and for what isn't signed
	Err            error
}

// Error says that an index doesn't list something that is in the directory, because
// it can't be read, or that the index can't be written.
type Error struct {
	Path string
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("indexing %s: %v", e.Path, e.Err) }

// Code is "mirror_index".
func (e *Error) Code() string { return "mirror_index" }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

type (
	// QueuedEvent comes first: these packages are going to be in the directory.
	QueuedEvent struct{ Packages []Package }
	// FetchingEvent comes when a package is going to be fetched. Local: it is on this
	// machine.
	FetchingEvent struct {
		Package Package
		Local   bool
	}
	// DoneEvent comes when a package is there, or Err in it says why it isn't.
	DoneEvent struct{ Package Package }
)

// Provider is the zero Provider: the event is about several.
func (QueuedEvent) Provider() getproviders.Provider { return getproviders.Provider{} }

// Provider is that of the package.
func (e FetchingEvent) Provider() getproviders.Provider { return e.Package.Selection.Provider }

// Provider is that of the package.
func (e DoneEvent) Provider() getproviders.Provider { return e.Package.Selection.Provider }

// Dir is a directory of packed packages. Its methods may be called from many
// goroutines.
type Dir struct {
	Fetcher  *fetcher.Fetcher
	Root     string
	Receipts receipt.ArchiveReceipts
}

// Path is where a slash-separated name is.
func (d *Dir) Path(name string) string { return filepath.Join(d.Root, filepath.FromSlash(name)) }

// DocumentsThere returns what the directory has that is signed about a version, if
// that lists an archive with this checksum; else nil.
func (d *Dir) DocumentsThere(p Item, zh getproviders.Hash) *getproviders.SignedDocuments {
	s := p.Selection
	documents, ok := getproviders.ReadSignedDocuments(d.Path(MirrorDir(s.Provider)), s.Provider, s.Version)
	if !ok || !documents.Covers(s.Provider, s.Version, p.Platform, zh) {
		return nil
	}
	return &documents
}

// Document asks the source for what is signed about an archive that is there, if the
// directory lacks it. The archive is authenticated without, so no answer is no failure.
func (d *Dir) Document(ctx context.Context, k *Kept) {
	zh := k.Known.Receipt.ZH
	if d.DocumentsThere(k.Item, zh) != nil {
		return
	}
	pkg, err := d.Fetcher.Source.Package(ctx, k.Selection.Provider, k.Selection.Version, k.Platform)
	if err == nil {
		k.Documents = SignedDocuments(ctx, fetcher.Request{Selection: k.Selection, Package: pkg}, k.Platform, zh)
	}
}

// Approve asks the Fetcher's Policy about a package that is there.
func (d *Dir) Approve(ctx context.Context, t fetcher.Request, k Kept) error {
	t.Package.Platform = k.Platform
	return d.Fetcher.Approve(ctx, t, fetcher.StatePresent, k.Known.Receipt.Claims())
}

// Recheck reports whether an archive that is there is authenticated by the documents
// beside it and the keys that its source names now. Then no request is needed.
func (d *Dir) Recheck(t fetcher.Request, k *Kept, digests getproviders.Digests) bool {
	zh := getproviders.ZH(digests.SHA256)
	recheck := t.Package.Trust.Recheck
	there := d.DocumentsThere(k.Item, zh)
	if recheck == nil || there == nil {
		return false
	}
	k.Documents = ShownDocuments(t, recheck(*there), k.Platform, zh)
	return k.Documents != nil
}

// ReplaceDocuments writes the documents that change. A reader never sees a signature
// beside another signature's list: the signature goes first, and comes last.
func (d *Dir) ReplaceDocuments(p getproviders.Provider, v getproviders.Version, signed getproviders.SignedDocuments) error {
	there, _ := getproviders.ReadSignedDocuments(d.Path(MirrorDir(p)), p, v)
	if len(signed.Keys) == 0 && bytes.Equal(there.Signature, signed.Signature) {
		signed.Keys = there.Keys // a source that knows the keys already doesn't bring them
	}
	if !bytes.Equal(there.Sums, signed.Sums) {
		if err := d.RemoveDocuments(p, v); err != nil {
			return err
		}
	}
	for i, content := range [][]byte{signed.EncodeKeys(), signed.Sums, signed.Signature} {
		if err := d.Write(MirrorDir(p)+"/"+DocumentNames(p, v)[i], content); err != nil {
			return err
		}
	}
	return nil
}

// RemoveDocuments removes the signature first, without which the others are none.
func (d *Dir) RemoveDocuments(p getproviders.Provider, v getproviders.Version) error {
	var errs []error
	for _, name := range slices.Backward(DocumentNames(p, v)) {
		errs = append(errs, d.removeFile(MirrorDir(p)+"/"+name))
	}
	return errors.Join(errs...)
}

func (d *Dir) removeFile(name string) error {
	path := d.Path(name)
	err := scratch.CheckLinks(d.Root, path)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Error{Path: path, Err: err}
	}
	return nil
}

// FetchInto fetches a package and publishes it. If another archive is in its place,
// the new one stays in its stage until no index lists the other one any more; the
// same archive stays as it is.
func (d *Dir) FetchInto(ctx context.Context, t fetcher.Request, k Kept, there receipt.Pending, exists bool) (Kept, error) {
	if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return k, t.Failed(resolve.StepFetch, fmt.Errorf("a mirror holds archives, and %s is an unpacked package", dir))
	}
	d.Fetcher.Emit(ctx, FetchingEvent{Package: k.Package, Local: fetcher.IsLocal(t)})
	stage, err := staging.New(d.Root)
	if err != nil {
		return k, t.Failed(resolve.StepPublish, err)
	}
	k.Stage = stage
	if err := d.obtainInto(ctx, t, &k); err != nil {
		stage.Remove()
		k.Stage = nil
		return k, err
	}
	switch {
	case !exists:
		return k, k.Publish()
	case there.Receipt.ZH == k.Known.Receipt.ZH:
		stage.Remove()
		k.Stage, k.Known, k.Present = nil, there, true
	}
	return k, nil
}

// obtainInto fetches the archive into the stage.
func (d *Dir) obtainInto(ctx context.Context, t fetcher.Request, k *Kept) error {
	archive := k.Stage.ArchivePath()
	got, err := d.Fetcher.FetchArchive(ctx, t, archive, "", nil)
	if err != nil {
		return err
	}
	if err := os.Chmod(archive, archiveMode); err != nil {
		return t.Failed(resolve.StepPublish, err)
	}
	record, _ := receipt.RecordArchive(archive) // the stage is private
	k.Authentication = got.Authentication
	k.Known = receipt.Pending{Name: k.Name, Dir: k.Path, Archive: true, Receipt: got.Receipt(record)}
	return nil
}

// List finds out what is in a provider's directory. What is in a stage counts as if
// it were in its place. An archive that can't be read is an error,
// and isn't listed.
func (d *Dir) List(ctx context.Context, p getproviders.Provider, kept map[string]*Kept, prune bool) (Listing, []error) {
	listing := Listing{Provider: p, Versions: map[getproviders.Version]map[getproviders.Platform]receipt.Pending{}}
	entries, err := os.ReadDir(d.Path(MirrorDir(p)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return listing, []error{&Error{Path: d.Path(MirrorDir(p)), Err: err}}
	}
	var errs []error
	for _, entry := range entries {
		v, plat, ok := getproviders.ParsePackedName(entry.Name(), p.Type)
		name := MirrorDir(p) + "/" + entry.Name()
		k := kept[name]
		switch {
		case !ok:
		case prune && k == nil:
			listing.Unwanted = append(listing.Unwanted, name)
		case k != nil && k.Known.Name != "":
			listing.add(v, plat, k.Known)
		default:
			found, err := d.Find(ctx, p, name)
			if err != nil {
				errs = append(errs, &Error{Path: d.Path(name), Err: err})
				continue
			}
			listing.add(v, plat, found)
		}
	}
	return listing, errs
}

// Find identifies an archive of the directory, by its receipt or by reading it. The error matches fs.ErrNotExist if it isn't there.
func (d *Dir) Find(ctx context.Context, p getproviders.Provider, name string) (receipt.Pending, error) {
	path := d.Path(name)
	found := receipt.Pending{Name: name, Dir: path, Archive: true}
	if rc, ok := d.Receipts.Known(name, path, d.Fetcher.Time()); ok && !d.Fetcher.Verify {
		found.Receipt = rc
		return found, nil
	}
	if _, err := os.Stat(path); err != nil {
		return receipt.Pending{}, err
	}
	began := d.Fetcher.Time()
	record, _ := receipt.RecordArchive(path)
	record.ReadFrom = began
	got, err := d.readArchive(ctx, p, path)
	if err != nil {
		return receipt.Pending{}, err
	}
	found.Receipt = got.Receipt(record)
	return found, nil
}

// readArchive hashes an archive, which has to be a package of the provider.
func (d *Dir) readArchive(ctx context.Context, p getproviders.Provider, path string) (receipt.Provenance, error) {
	from, err := download.OpenFile(path)
	if err != nil {
		return receipt.Provenance{}, err
	}
	defer from.Close()
	sum, limits := sha256.New(), d.Fetcher.Limits.Unpack()
	size, err := chunks.Copy(ctx, sum, from, make([]byte, chunks.Size))
	if err != nil {
		return receipt.Provenance{}, err
	}
	whole, err := unpack.Open(path, size, nil, p, limits)
	if err != nil {
		return receipt.Provenance{}, err
	}
	defer whole.Close()
	content, err := d.Fetcher.UnpackComplete(ctx, whole, size, "")
	if err != nil {
		return receipt.Provenance{}, err
	}
	return receipt.Provenance{
		H1: content.H1, H1Archive: content.OtherH1(), ZH: getproviders.ZH([sha256.Size]byte(sum.Sum(nil))), ArchiveBytes: size,
	}, nil
}

// Remember writes receipts for archives, so that the next run reads none.
func (d *Dir) Remember(ctx context.Context, all []receipt.Pending) {
	var fresh []receipt.Pending
	for _, p := range all {
		if p.Receipt.Taken.IsZero() && len(p.Receipt.Record.Entries) > 0 {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) > 0 {
		d.Receipts.Record(ctx, d.Fetcher.Time, fresh...)
	}
	_ = d.Receipts.Save(ctx)
}

// Write replaces a file with a document, unless it has that content already.
func (d *Dir) Write(name string, content []byte) error {
	path := d.Path(name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && wholefile.Has(path, content) {
		return nil
	}
	if err := wholefile.Write(path, content, archiveMode); err != nil {
		return &Error{Path: path, Err: err}
	}
	return nil
}

// Item is a package that the directory is to hold.
type Item struct {
	Package
	Name     string              // of the archive, slash-separated, below the directory
	Recorded []getproviders.Hash // by lock files
}

// Selected is what the item is a package of.
func (p Item) Selected() resolve.Selection { return p.Selection }

// Kept is what became of an Item.
type Kept struct {
	Item
	Known receipt.Pending // zero if it failed
	Stage *staging.Stage  // has the archive, if it replaces another one; nil: the archive is in its place

	Documents *getproviders.SignedDocuments // about its version; nil: there are none, or those that are there stay
}

// Publish puts the archive from the stage into its place.
func (k *Kept) Publish() error {
	_, err := scratch.MakeDirs(filepath.Dir(k.Path))
	if err == nil {
		err = os.Rename(k.Stage.ArchivePath(), k.Path)
	}
	k.Stage.Remove()
	if k.Stage = nil; err != nil {
		k.Known = receipt.Pending{}
		return k.Selection.Failed(resolve.StepPublish, err)
	}
	return nil
}

// PackagesOf returns the packages of items.
func PackagesOf(packages []Item) (all []Package) {
	for _, p := range packages {
		all = append(all, p.Package)
	}
	return all
}

// RemoveStages removes what was fetched and not published.
func RemoveStages(kept []Kept) {
	for _, k := range kept {
		if k.Stage != nil {
			k.Stage.Remove()
		}
	}
}

// MirrorDir is where the packages and indexes of a provider are, below the directory.
func MirrorDir(p getproviders.Provider) string { return getproviders.ProviderPath(p) }

// archiveMode is what everybody may do with the archives and indexes of a
// mirror: a web server runs as another user.
const archiveMode fs.FileMode = 0o644
