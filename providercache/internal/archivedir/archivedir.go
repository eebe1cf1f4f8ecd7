// Package archivedir keeps packed packages in a directory: the archives, with what
// is signed about them. It is what mirrors (package mirror) and vendored packages
// (package vendoring) share, and not an API: use those packages. Only [Package],
// [Error] and the events are for their callers.
//
//	dir := archivedir.Dir{Fetcher: f, Root: root, Receipts: receipts}
//	found, err := dir.Find(ctx, provider, name)        // what an archive is
//	kept := dir.GetAll(ctx, items, get, put, failed)   // get calls dir.Get, put calls Kept.Publish
//
// An archive appears in its place by one rename. What is signed about a version is
// kept only where it is true of every archive of the version: the signature comes
// last and goes first, because it announces the others.
package archivedir

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

// Package is a package of the directory.
type Package struct {
	Selection      getproviders.Selection
	Platform       getproviders.Platform
	Path           string                            // of the archive
	Present        bool                              // it was there already
	Source         string                            // which source had it, as getproviders.Package has it; "" for what was there
	Bytes          int64                             // of the archive; 0: its size isn't known
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
	Fetcher  *fetch.Fetcher
	Root     string
	Receipts receipt.ArchiveReceipts
}

// Path is where a slash-separated name is.
func (d *Dir) Path(name string) string { return filepath.Join(d.Root, filepath.FromSlash(name)) }

// Approve asks the Fetcher's Policy about a package that is there.
func (d *Dir) Approve(ctx context.Context, t fetch.Request, k Kept) error {
	t.Package.Platform = k.Platform
	return d.Fetcher.Approve(ctx, t, getproviders.StatePresent, k.Known.Receipt.Claims())
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

// Kept is what became of an Item.
type Kept struct {
	Item
	Known receipt.Pending      // zero if it failed
	From  getproviders.Package // what was fetched, or was to be
	Stage *staging.Stage       // has the archive, if it replaces another one; nil: the archive is in its place

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
		return k.Selection.Failed(during.Publish, err)
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
func MirrorDir(p getproviders.Provider) string { return layout.ProviderPath(p) }

// archiveMode is what everybody may do with the archives and indexes of a
// mirror: a web server runs as another user.
const archiveMode fs.FileMode = 0o644
