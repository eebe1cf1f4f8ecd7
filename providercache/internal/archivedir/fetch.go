package archivedir

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/resolve"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
)

// Destination is a place for packages: a directory, a bucket or a registry for others to install from, or a repository that needs them.
type Destination interface {
	// Find returns what the destination has of a package, and may mark the
	// Item as damaged. An error means that the package can't be put there.
	Find(context.Context, *Item) (Claim, error)
	// Put moves packages from their stages to the destination, all or none. The
	// argument includes packages that were there already, and failed ones.
	Put(context.Context, []Kept) error
}

// Populate puts all packages into the destination, those of a group in one Put. Fetched packages are staged in d.
func (d *Dir) Populate(ctx context.Context, to Destination, groups [][]Item) []Kept {
	kept, errs := par.Map(ctx, d.Fetcher.Limits.Queries, groups, func(ctx context.Context, group []Item) (kept []Kept, _ error) {
		for _, p := range group {
			c, err := to.Find(ctx, &p)
			k := Kept{Item: p, Lost: c.Lost}
			if err == nil {
				if k, err = d.fetch(ctx, k, c); err != nil && p.Damaged {
					err = p.Failed(during.Fetch, fmt.Errorf("%s is damaged, and can't be fetched again: %w", p.Path, err))
				}
			}
			if err != nil {
				k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
			}
			kept = append(kept, k)
		}
		err := to.Put(ctx, kept)
		for i := range kept {
			k := &kept[i]
			if err != nil && k.Err == nil && (!k.Present || k.Documents != nil) {
				k.Err = resolve.OnPlatform(ctx, k.Selection, k.Platform, err)
			}
			switch {
			case k.Present: // perhaps also refused
				k.State = event.Present
			case k.Err != nil:
				k.State = event.Failed
			default:
				k.State = event.Fetched
			}
			d.Fetcher.Emit(ctx, event.Event{Kind: event.Done, Outcome: k.Outcome})
		}
		return kept, nil
	})
	for i, err := range errs {
		if err != nil { // ctx ended before it began
			for _, p := range groups[i] {
				p.State, p.Err = event.Failed, resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
				kept[i] = append(kept[i], Kept{Item: p})
			}
		}
	}
	return slices.Concat(kept...)
}

// Claim is what a destination has of a package. The zero value means that the package isn't there.
type Claim struct {
	Known  receipt.Pending
	Has    func(getproviders.Hash) bool                 // reports whether a hash is the package's; nil: the package isn't there
	Signed bool                                         // the place has the version's signed documents
	Lost   getproviders.Hash                            // the zh of an archive that is damaged; "": unknown, or not damaged
	Open   func(context.Context) (io.ReadCloser, error) // reads the package
	Read   bool                                         // this run has read the whole package
	Listed []getproviders.Hash                          // in a document; nil: no document lists it
	// Same is kept if the fetched archive has its zh. It is zero for a bucket, because documents don't prove what the bucket has.
	Same receipt.Pending

	Recorded []getproviders.Hash   // hashes of which a fetched package has to have one
	From     getproviders.Location // where the package is; nil: the source knows
	// Current reports whether the package that is there, the Known of the Kept, is what the
	// source has. Its error for a current package is the policy's refusal. nil: IsCurrent.
	Current func(context.Context, fetch.Request, *Kept) (bool, error)
}

// fetch returns a package that is in place, or fetches it into a stage.
func (d *Dir) fetch(ctx context.Context, k Kept, c Claim) (Kept, error) {
	t := fetch.Request{Selection: k.Selection, Recorded: c.Recorded, Package: getproviders.Package{Location: c.From}}
	if c.Has != nil && slices.ContainsFunc(k.Recorded, c.Has) {
		k.Present, k.Known = true, c.Known
		err := d.Approve(ctx, t, k)
		if err == nil && !c.Signed {
			d.document(ctx, &k)
		}
		return k, err
	}
	var err error
	if c.From == nil {
		if t.Package, err = d.Fetcher.Source.Package(ctx, k.Provider, k.Version, k.Platform); err != nil {
			return k, k.Failed(during.Metadata, err)
		}
	}
	if c.Has != nil {
		if c.Current == nil {
			c.Current = d.IsCurrent
		}
		k.Known = c.Known
		if k.Present, err = c.Current(ctx, t, &k); err != nil || k.Present {
			return k, err
		}
		k.Known = receipt.Pending{}
	}
	if k, err = d.fetchStaged(ctx, t, k, c.Same); err != nil || d.Unpacked {
		return k, err
	}
	zh := k.Known.Receipt.ZH
	if trust, err := t.LoadTrust(ctx); err == nil {
		k.Documents = SignedDocuments(t, trust, k.Platform, zh)
	}
	if k.Documents == nil {
		k.Documents = d.documentsThere(k.Item, zh)
	}
	return k, nil
}

// IsCurrent reports whether an archive that is there matches the source's checksums and signatures; false if the source has
// none. It sends no request if the documents beside the archive authenticate it with the keys that the source names now.
func (d *Dir) IsCurrent(ctx context.Context, t fetch.Request, k *Kept) (bool, error) {
	there := k.Known.Receipt
	sum, ok := there.ZH.SHA256()
	if expected, known := t.Expected(); !ok || known && expected != sum {
		return false, nil
	}
	if documents, recheck := d.documentsThere(k.Item, there.ZH), t.Package.Trust.Recheck; recheck != nil && documents != nil {
		if k.Documents = SignedDocuments(t, recheck(*documents), k.Platform, there.ZH); k.Documents != nil {
			return true, d.Approve(ctx, t, *k)
		}
	}
	trust, err := t.LoadTrust(ctx)
	if err != nil || trust.Authenticator == nil {
		return false, err
	}
	if k.Authenticate(t, trust) != nil { // fetching it reports what is wrong
		return false, nil
	}
	k.Documents = SignedDocuments(t, trust, k.Platform, there.ZH)
	return true, d.Approve(ctx, t, *k)
}

// fetchStaged fetches a package into a stage. The caller publishes it, at once or, if it replaces another archive, when no
// index lists that one any more. If the package equals there, the archive in place, the stage is removed and k is Present.
func (d *Dir) fetchStaged(ctx context.Context, t fetch.Request, k Kept, there receipt.Pending) (Kept, error) {
	into := d.fetchArchive
	if d.Unpacked {
		into = d.fetchTree
	} else if dir, ok := t.Package.Location.(getproviders.LocalDirectory); ok {
		return k, t.Failed(during.Fetch, fmt.Errorf("a mirror holds archives, and %s is an unpacked package", dir))
	}
	k.From = t.Package
	d.Fetcher.Emit(ctx, event.Event{Kind: event.Fetching, Outcome: k.Outcome, Package: t.Package})
	stage, err := staging.New(d.Root)
	if err != nil {
		return k, t.Failed(during.Publish, err)
	}
	k.Stage = stage
	if err := into(ctx, t, &k); err != nil {
		stage.Remove()
		k.Stage = nil
		return k, err
	}
	if there.Archive && there.Receipt.ZH == k.Known.Receipt.ZH {
		stage.Remove()
		k.Stage, k.From, k.Known, k.Present = nil, getproviders.Package{}, there, true
	}
	return k, nil
}

// fetchTree unpacks the package in the stage. A package that is unpacked already is copied: a link would dangle on another machine.
func (d *Dir) fetchTree(ctx context.Context, t fetch.Request, k *Kept) error {
	t.Modes = []link.Mode{link.Copy}
	got, err := d.Fetcher.Fetch(ctx, t, k.Stage)
	if err == nil {
		k.Authentication = got.Authentication
		k.Known = k.Pending(got.Receipt(receipt.StatRecord{}), false)
	}
	return err
}

// fetchArchive fetches the archive into the stage.
func (d *Dir) fetchArchive(ctx context.Context, t fetch.Request, k *Kept) error {
	archive := k.Stage.ArchivePath()
	got, err := d.Fetcher.FetchArchive(ctx, t, archive, "")
	if err != nil {
		return err
	}
	if err := os.Chmod(archive, archiveMode); err != nil {
		return t.Failed(during.Publish, err)
	}
	record, _ := receipt.RecordArchive(archive) // the stage is private
	k.Authentication = got.Authentication
	k.Known = k.Pending(got.Receipt(record), true)
	return nil
}
