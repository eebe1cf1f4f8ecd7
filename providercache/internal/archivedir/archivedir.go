// Package archivedir keeps packages in a directory: unpacked, or as archives with their signed
// documents. Mirrors (package mirror) and vendored packages share it; programs use those packages.
//
//	dir := archivedir.Dir{Fetcher: f, Root: root, Receipts: receipts}
//	found, err := dir.Find(ctx, provider, name)     // identifies an archive
//	kept := dir.Populate(ctx, destination, groups, false) // fetches the packages that the Destination lacks
//
// No archive is requested before everything else is known of all packages, and none if one of them can't be had.
//
// A package is renamed into place. The signed documents of a version are kept only if they are true of every
// archive of the version: the signature is written last and removed first, because clients look for it first.
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

// Unlisted says that an index doesn't list an archive, because the archive can't be read, or that the index can't be written.
func Unlisted(path string, err error) error {
	return &getproviders.Fault{Code: "mirror_index", Err: fmt.Errorf("%s: %w", path, err)}
}

// Dir is a directory of packages. Its methods are safe for concurrent use.
type Dir struct {
	Fetcher  *fetch.Fetcher
	Root     string
	Receipts *receipt.Receipts
	Unpacked bool // fetched packages are unpacked
}

// Path returns the path of a slash-separated name.
func (d *Dir) Path(name string) string { return filepath.Join(d.Root, filepath.FromSlash(name)) }

// Approve asks the Fetcher's Policy about a package in the directory.
func (d *Dir) Approve(ctx context.Context, t fetch.Request, k Kept) error {
	t.Package.Platform = k.Platform
	return d.Fetcher.Approve(ctx, t, getproviders.StatePresent, k.Known.Receipt.Claims())
}

// Write implements Files. It doesn't touch a file that already has the content.
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
	Recorded []getproviders.Hash // in lock files

	// Listed says that only the source names the package, as one of all versions or platforms that it lists. If there is no
	// such package after all, that doesn't stop the others: nobody could leave it out of the request.
	Listed bool
}

// Pending returns the package at its path with a receipt.
func (p Item) Pending(of receipt.Receipt, archive bool) receipt.Pending {
	return receipt.Pending{Name: p.Name, Dir: p.Path, Receipt: of, Archive: archive}
}

// Kept is the result for an Item.
type Kept struct {
	Item
	Present bool                 // it was there already
	Lost    getproviders.Hash    // see Claim
	Known   receipt.Pending      // zero if it failed
	From    getproviders.Package // the source's description; zero: nothing was fetched
	Stage   *staging.Stage       // has the package to publish; nil: the package is in place

	Documents *getproviders.SignedDocuments // about its version; nil: none, or those in the directory stay
}

// Authenticate authenticates an archive in the directory, compares it with the hashes of the request, and records the result in k.Known.
func (k *Kept) Authenticate(t fetch.Request, trust getproviders.Trust) error {
	rc := &k.Known.Receipt
	signed, err := t.Authenticate(trust.Authenticator, rc.Digests())
	if err == nil {
		rc.Signed, rc.TrustLevel, rc.KeyID, rc.RegistryHashes = signed.Signed, signed.TrustLevel, signed.KeyID, t.OtherRegistryHashes(trust)
	}
	return err
}

// Publish moves the package from the stage to its path.
func (k *Kept) Publish(ctx context.Context) error {
	_, err := scratch.MakeDirs(filepath.Dir(k.Path))
	switch {
	case err != nil:
	case k.Known.Archive:
		err = patient.Rename(k.Stage.ArchivePath(), k.Path)
	default:
		_, err = k.Stage.Publish(ctx, k.Path, k.Known.Receipt.H1)
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

// RemoveStages removes packages that were fetched and not published.
func RemoveStages(kept []Kept) {
	for _, k := range kept {
		if k.Stage != nil {
			k.Stage.Remove()
		}
	}
}

// MirrorDir returns the directory of a provider's packages and indexes, below the root.
func MirrorDir(p getproviders.Provider) string { return layout.ProviderPath(p) }

// archiveMode is the mode of the archives and indexes of a mirror: a web server reads them as another user.
const archiveMode fs.FileMode = 0o644
