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

// Mirrored is a package of the mirror.
type Package struct {
	Selection      resolve.Selection
	Platform       getproviders.Platform
	Path           string                            // of the archive
	Present        bool                              // it was there already
	Authentication getproviders.AuthenticationResult // zero for what was there, and for what nobody vouches for
	Err            error
}

// Error says that the indexes of a mirror can't tell of something that is
// in it, or couldn't be written.
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
	// QueuedEvent comes first: these packages are going to be in the mirror.
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

func (QueuedEvent) Provider() getproviders.Provider { return getproviders.Provider{} }

func (e FetchingEvent) Provider() getproviders.Provider { return e.Package.Selection.Provider }

func (e DoneEvent) Provider() getproviders.Provider { return e.Package.Selection.Provider }

// archiveDir is a directory of packed packages, a mirror's or a repository's.
type Dir struct {
	Fetcher  *fetcher.Fetcher
	Root     string
	Receipts receipt.ArchiveReceipts
}

// path is where something of the mirror is.
func (d *Dir) Path(name string) string { return filepath.Join(d.Root, filepath.FromSlash(name)) }

// documentsThere returns what the mirror has about a version, if it lists an
// archive with this checksum.
func (d *Dir) DocumentsThere(p Item, zh getproviders.Hash) *getproviders.SignedDocuments {
	s := p.Selection
	documents, ok := getproviders.ReadSignedDocuments(d.Path(MirrorDir(s.Provider)), s.Provider, s.Version)
	if !ok || !documents.Covers(s.Provider, s.Version, p.Platform, zh) {
		return nil
	}
	return &documents
}

// document asks for what is signed about an archive that is there, if the mirror
// lacks it. The archive is genuine without: who can't be asked is no failure.
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

// rejudge reports whether an archive that is there is genuine by what the mirror
// has about it, and the keys that its source names now: then nothing has to be
// asked for.
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

// replaceDocuments writes what changes. Nobody gets a signature with another one's
// list: it goes first, and comes last.
func (d *Dir) ReplaceDocuments(p getproviders.Provider, v getproviders.Version, signed getproviders.SignedDocuments) error {
	there, _ := getproviders.ReadSignedDocuments(d.Path(MirrorDir(p)), p, v)
	if len(signed.Keys) == 0 && bytes.Equal(there.Signature, signed.Signature) {
		signed.Keys = there.Keys // a mirror isn't asked for keys that it takes no introduction to know
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

// removeDocuments removes the signature first, without which the others are none.
func (d *Dir) RemoveDocuments(p getproviders.Provider, v getproviders.Version) error {
	var errs []error
	for _, name := range slices.Backward(DocumentNames(p, v)) {
		errs = append(errs, d.removeFile(MirrorDir(p)+"/"+name))
	}
	return errors.Join(errs...)
}

func (d *Dir) removeFile(name string) error {
	path := d.Path(name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &Error{Path: path, Err: err}
	}
	return nil
}

// fetchInto gets a package and puts it into its place. If there is another
// archive, that waits until the index doesn't tell of it any more; the same one
// stays, as where a directory that vouches for nothing is the source.
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

// obtainInto gets the archive into the stage.
func (d *Dir) obtainInto(ctx context.Context, t fetcher.Request, k *Kept) error {
	archive := k.Stage.ArchivePath()
	got, err := d.Fetcher.FetchArchive(ctx, t, archive, "", nil)
	if err != nil {
		return err
	}
	if err := os.Chmod(archive, archiveMode); err != nil {
		return t.Failed(resolve.StepPublish, err)
	}
	record, _ := receipt.RecordArchive(archive) // nobody else has touched it
	k.Authentication = got.Authentication
	k.Known = receipt.Pending{Name: k.Name, Dir: k.Path, Archive: true, Receipt: got.Receipt(record)}
	return nil
}

// shelve finds out what is in a provider's directory. What kept has a stage for
// counts as if it were in its place. An archive that can't be read is an error,
// and isn't listed.
func (d *Dir) List(ctx context.Context, p getproviders.Provider, kept map[string]*Kept, prune bool) (Listing, []error) {
	shelf := Listing{Provider: p, Versions: map[getproviders.Version]map[getproviders.Platform]receipt.Pending{}}
	entries, err := os.ReadDir(d.Path(MirrorDir(p)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return shelf, []error{&Error{Path: d.Path(MirrorDir(p)), Err: err}}
	}
	var errs []error
	for _, entry := range entries {
		v, plat, ok := getproviders.ParsePackedName(entry.Name(), p.Type)
		name := MirrorDir(p) + "/" + entry.Name()
		k := kept[name]
		switch {
		case !ok:
		case prune && k == nil:
			shelf.Unwanted = append(shelf.Unwanted, name)
		case k != nil && k.Known.Name != "":
			shelf.add(v, plat, k.Known)
		default:
			found, err := d.Find(ctx, p, name)
			if err != nil {
				errs = append(errs, &Error{Path: d.Path(name), Err: err})
				continue
			}
			shelf.add(v, plat, found)
		}
	}
	return shelf, errs
}

// find finds out what an archive of the mirror is, by its receipt or by reading
// it. The error matches fs.ErrNotExist if it isn't there.
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

// remember gives receipts to the archives of the mirror, so that the next run
// reads none.
func (d *Dir) Remember(ctx context.Context, all []receipt.Pending) {
	var told []receipt.Pending
	for _, p := range all {
		if p.Receipt.Taken.IsZero() && len(p.Receipt.Record.Entries) > 0 {
			told = append(told, p)
		}
	}
	if len(told) > 0 {
		d.Receipts.Record(ctx, d.Fetcher.Time, told...)
	}
	_ = d.Receipts.Save(ctx)
}

// write replaces a document, if it changes.
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

// mirrorPackage is a package that is wanted.
type Item struct {
	Package
	Name     string              // of the archive, slash-separated, below the mirror's directory
	Recorded []getproviders.Hash // by lock files
}

func (p Item) Selected() resolve.Selection { return p.Selection }

// mirrorKept is what became of it.
type Kept struct {
	Item
	Known receipt.Pending // zero if it failed
	Stage *staging.Stage  // has the archive, if it takes the place of another one; nil: it is in its place

	Documents *getproviders.SignedDocuments // about its version; nil: there are none, or those that are there do
}

// place puts the archive from the stage into its place.
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

func PackagesOf(packages []Item) (all []Package) {
	for _, p := range packages {
		all = append(all, p.Package)
	}
	return all
}

func RemoveStages(kept []Kept) {
	for _, k := range kept {
		if k.Stage != nil {
			k.Stage.Remove()
		}
	}
}

// mirrorDir is where a mirror has a provider's packages and indexes.
func MirrorDir(p getproviders.Provider) string { return getproviders.ProviderPath(p) }

// archiveMode is what everybody may do with the archives and indexes of a
// mirror: a web server runs as somebody else.
const archiveMode fs.FileMode = 0o644
