// Package archivedir keeps packages in a directory: archives with what
// is signed about them, or unpacked. It is what mirrors (package mirror) and vendored packages
// share, and not an API: use those packages.
//
//	dir := archivedir.Dir{Fetcher: f, Root: root, Receipts: receipts}
//	found, err := dir.Find(ctx, provider, name)     // what an archive is
//	kept := dir.Populate(ctx, destination, groups) // the Destination finds packages, and puts what was fetched into its place
//
// A package appears in its place by one rename. What is signed about a version is
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
	"github.com/tfdeps/tfdeps/internal/patient"
	"github.com/tfdeps/tfdeps/internal/scratch"
	"github.com/tfdeps/tfdeps/internal/wholefile"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

// Unlisted says that an index doesn't list something that is in the directory, because it can't be read, or that the index
// can't be written.
func Unlisted(path string, err error) error {
	return &getproviders.Fault{Code: "mirror_index", Err: fmt.Errorf("%s: %w", path, err)}
}

// Dir is a directory of packed packages. Its methods may be called from many
// goroutines.
type Dir struct {
	Fetcher  *fetch.Fetcher
	Root     string
	Receipts *receipt.Receipts
	Unpacked bool // what is fetched is unpacked
}

// Path is where a slash-separated name is.
func (d *Dir) Path(name string) string { return filepath.Join(d.Root, filepath.FromSlash(name)) }

// Approve asks the Fetcher's Policy about a package that is there.
func (d *Dir) Approve(ctx context.Context, t fetch.Request, k Kept) error {
	t.Package.Platform = k.Platform
	return d.Fetcher.Approve(ctx, t, getproviders.StatePresent, k.Known.Receipt.Claims())
}

// Write implements Files. A file that has that content already stays.
func (d *Dir) Write(_ context.Context, name string, content []byte) error {
	path := d.Path(name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && wholefile.Has(path, content) {
		return nil
	}
	if err := wholefile.Write(path, content, archiveMode); err != nil {
		return Unlisted(path, err)
	}
	return nil
}

// Item is a package that the directory is to hold.
type Item struct {
	event.Outcome
	Name     string              // of the archive, slash-separated, below the directory
	Recorded []getproviders.Hash // by lock files
}

// Pending is the package in its place, with what is known of it.
func (p Item) Pending(of receipt.Receipt, archive bool) receipt.Pending {
	return receipt.Pending{Name: p.Name, Dir: p.Path, Receipt: of, Archive: archive}
}

// Kept is what became of an Item.
type Kept struct {
	Item
	Present bool                 // it was there already
	Lost    getproviders.Hash    // as Claim has it
	Known   receipt.Pending      // zero if it failed
	From    getproviders.Package // what was fetched, or was to be
	Stage   *staging.Stage       // has what is to be put into the place; nil: it is there

	Documents *getproviders.SignedDocuments // about its version; nil: there are none, or those that are there stay
}

// Authenticate authenticates an archive that is there, and compares it with the hashes of the request. What is signed of it is known then.
func (k *Kept) Authenticate(t fetch.Request, trust getproviders.Trust) error {
	rc := &k.Known.Receipt
	signed, err := t.Authenticate(trust.Authenticator, rc.Digests())
	if err == nil {
		rc.Signed, rc.TrustLevel, rc.KeyID, rc.RegistryHashes = signed.Signed, signed.TrustLevel, signed.KeyID, t.OtherRegistryHashes(trust)
	}
	return err
}

// Publish puts the package from the stage into its place.
func (k *Kept) Publish(ctx context.Context) error {
	_, err := scratch.MakeDirs(filepath.Dir(k.Path))
	switch {
	case err != nil:
	case k.Known.Archive:
		err = patient.Rename(k.Stage.ArchivePath(), k.Path)
	default:
		err = k.Stage.Publish(ctx, k.Path, k.Known.Receipt.H1)
	}
	k.Stage.Remove()
	if k.Stage = nil; err != nil {
		k.Known = receipt.Pending{}
		return k.Failed(during.Publish, err)
	}
	return nil
}

// PackagesOf returns the packages of items.
func PackagesOf(packages []Item) (all []event.Outcome) {
	for _, p := range packages {
		all = append(all, p.Outcome)
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
