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

// Destination is a place where packages are put for others to install from: a directory, a bucket or a registry.
type Destination interface {
	// Find returns what the destination has of a package, and may mark the
	// Item as damaged. An error means that the package can't be put there.
	Find(context.Context, *Item) (Claim, error)
	// Put moves packages from their stages to the destination, all or none. The
	// argument includes packages that were there already, and failed ones.
	Put(context.Context, []Kept) error
}

// Populate puts all packages into the destination, those of a group in one Put. Fetched packages are staged in d. failed says
// that the run has failed already: then no archive is requested, as after a failure of Prepare.
func (d *Dir) Populate(ctx context.Context, to Destination, groups [][]Item, failed bool) []Kept {
	prepared := d.Prepare(ctx, to.Find, slices.Concat(groups...), failed)

	var prepares [][]Prepared
	for _, group := range groups {
		prepares = append(prepares, prepared[:len(group)])
		prepared = prepared[len(group):]
	}

	kept, _ := par.Map(context.WithoutCancel(ctx), d.Fetcher.Limits.Queries, prepares, func(_ context.Context, group []Prepared) ([]Kept, error) {
		return d.populate(ctx, to, group), nil
	})

	all := slices.Concat(kept...)
	d.RememberHashes(ctx, all)
	return all
}

// RememberHashes records the hashes of archives that were fetched, so that providers lock downloads none of them again. It does so after an
// interrupt, too.
func (d *Dir) RememberHashes(ctx context.Context, all []Kept) {
	h1s := map[getproviders.Hash]getproviders.Hash{}
	for _, k := range all {
		if k.State == event.Fetched {
			h1s[k.Known.Receipt.ZH] = k.Known.Receipt.H1
		}
	}
	receipt.RememberArchives(context.WithoutCancel(ctx), d.Fetcher.StateDir, h1s)
}

// populate fetches the packages of one group, and puts them into the destination.
func (d *Dir) populate(ctx context.Context, to Destination, group []Prepared) (kept []Kept) {
	for _, p := range group {
		kept = append(kept, d.Fetch(ctx, p))
	}

	err := to.Put(ctx, kept)
	for i := range kept {
		k := &kept[i]

		changes := !k.Present || k.Documents != nil
		if err != nil && k.Err == nil && k.State != event.NotTried && changes {
			k.Err = resolve.OnPlatform(ctx, k.Selection, k.Platform, err)
		}

		d.End(ctx, k)
	}

	return kept
}

// End sets the State of a package with which nothing more is done, and reports it.
func (d *Dir) End(ctx context.Context, k *Kept) {
	switch {
	case k.Present: // perhaps also refused
		k.State = event.Present
	case k.Err != nil:
		k.State = event.Failed
	case k.State != event.NotTried:
		k.State = event.Fetched
	}

	d.Fetcher.Emit(ctx, event.Event{Kind: event.Done, Outcome: k.Outcome})
}

// Prepared is an Item of which everything is known that can be known without its archive. It has failed, is present, is not to be
// tried because others have failed, or is to be fetched.
type Prepared struct {
	Kept
	claim   Claim
	request fetch.Request
}

// Prepare finds out what the destination has of all packages, and asks the source where the others are. If one of them can't be had, or failed
// says that the run has failed already, the packages that would have to be fetched aren't tried.
func (d *Dir) Prepare(ctx context.Context, find func(context.Context, *Item) (Claim, error), items []Item, failed bool) []Prepared {
	prepared, errs := par.Map(ctx, d.Fetcher.Limits.Queries, items, func(ctx context.Context, item Item) (Prepared, error) {
		p := Prepared{Kept: Kept{Item: item}}
		err := d.prepare(ctx, find, &p)
		return p, err
	})

	for i, err := range errs {
		if err == nil {
			continue
		}

		p := &prepared[i]
		if p.Name == "" { // it wasn't begun, because ctx had ended
			p.Item = items[i]
		}
		p.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, err)
		failed = failed || !p.Listed
	}

	for i := range prepared {
		p := &prepared[i]
		if failed && p.Err == nil && !p.Present {
			p.State = event.NotTried
		}
	}

	return prepared
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

// prepare finds out what the destination has of a package, or where the source has it.
func (d *Dir) prepare(ctx context.Context, find func(context.Context, *Item) (Claim, error), p *Prepared) (err error) {
	p.claim, err = find(ctx, &p.Item)
	if err != nil {
		return err
	}

	p.Lost = p.claim.Lost
	p.request = fetch.Request{
		Selection: p.Selection,
		Recorded:  p.claim.Recorded,
		Package:   getproviders.Package{Location: p.claim.From},
	}

	isRecorded := p.claim.Has != nil && slices.ContainsFunc(p.Recorded, p.claim.Has)
	if isRecorded {
		return d.keep(ctx, p)
	}

	if p.claim.From == nil {
		err = d.Fetcher.Describe(ctx, &p.request, p.Platform)
	}
	if err == nil && p.claim.Has != nil {
		err = d.compare(ctx, p)
	}

	return p.explained(err)
}

// keep leaves a package in place that has a hash of a lock file.
func (d *Dir) keep(ctx context.Context, p *Prepared) error {
	p.Present, p.Known = true, p.claim.Known

	err := d.Approve(ctx, p.request, p.Kept)
	if err == nil && !p.claim.Signed {
		d.document(ctx, &p.Kept)
	}

	return err
}

// compare decides whether a package in place is what the source has.
func (d *Dir) compare(ctx context.Context, p *Prepared) (err error) {
	isCurrent := p.claim.Current
	if isCurrent == nil {
		isCurrent = d.IsCurrent
	}

	p.Known = p.claim.Known
	p.Present, err = isCurrent(ctx, p.request, &p.Kept)
	if err == nil && !p.Present {
		p.Known = receipt.Pending{}
	}

	return err
}

// explained returns the error with the damaged package that it concerns, if there is one.
func (p *Prepared) explained(err error) error {
	if err == nil || !p.Damaged {
		return err
	}
	return p.Failed(during.Fetch, fmt.Errorf("%s is damaged, and can't be fetched again: %w", p.Path, err))
}

// Fetch fetches a package into a stage, if that is what remains to be done with it.
func (d *Dir) Fetch(ctx context.Context, p Prepared) Kept {
	if p.Present || p.Err != nil || p.State == event.NotTried {
		return p.Kept
	}

	k, err := p.Kept, context.Cause(ctx)
	if err == nil {
		k, err = d.fetch(ctx, p)
	}
	if err != nil {
		k.Err = resolve.OnPlatform(ctx, p.Selection, p.Platform, p.explained(err))
	}

	return k
}

// fetch fetches a package into a stage, with the signed documents that belong beside it.
func (d *Dir) fetch(ctx context.Context, p Prepared) (Kept, error) {
	k, err := d.fetchStaged(ctx, p.request, p.Kept, p.claim.Same)
	if err != nil || d.Unpacked {
		return k, err
	}

	zh := k.Known.Receipt.ZH
	trust, err := p.request.LoadTrust(ctx)
	if err == nil {
		k.Documents = SignedDocuments(p.request, trust, k.Platform, zh)
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
