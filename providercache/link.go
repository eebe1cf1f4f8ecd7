package providercache

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

// link puts packages of the cache into Target. Those that can't be linked,
// because they have been removed meanwhile, for example, are returned in rest
// and have to be fetched.
func (in *Installer) link(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage) (linked []Outcome, rest []resolve.Selection) {
	if len(selections) == 0 {
		return nil, nil
	}
	modes := in.linkModes()
	unlocked := slices.Index(modes, link.Hardlink)
	if unlocked < 0 {
		return in.linkEach(ctx, selections, local, modes)
	}
	if unlocked > 0 { // where one can't be cloned, none can: to try once is enough
		if linked, _ = in.linkEach(ctx, selections[:1], local, modes[:unlocked]); len(linked) > 0 {
			more, left := in.linkEach(ctx, selections[1:], local, modes[:unlocked])
			linked, selections = append(linked, more...), left
		}
	}
	more, rest := in.linkLocked(ctx, selections, local, modes[unlocked:])
	return append(linked, more...), rest
}

// linkEach links or copies packages without file locks, so others may exchange
// them meanwhile.
func (in *Installer) linkEach(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage, modes []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	at := in.cacheView()
	outcomes, errs := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, selections, func(ctx context.Context, s resolve.Selection) (Outcome, error) {
		return in.linkUnlocked(ctx, s, *local[s.Provider].Cached, at, modes)
	})
	return succeeded(selections, outcomes, errs)
}

// linkLocked makes hard links. These change the ctime of the cache's files, by
// which receipts recognise them, so a receipt is checked before and renewed
// after, while the package's file lock is held. This is done for many packages
// at once, because a receipt counts only some moments after the last change.
func (in *Installer) linkLocked(ctx context.Context, selections []resolve.Selection, local map[getproviders.Provider]localPackage, modes []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	left := in.Cache.EachLocked(ctx, in.packageNames(selections), func(held []int) {
		at, these := in.cacheView(), itemsAt(selections, held)
		found := func(s resolve.Selection) receipt.Provenance { return *local[s.Provider].Cached }
		good, bad := in.linkHeld(ctx, these, found, at, modes)
		linked, rest = append(linked, good...), append(rest, bad...)
	})
	return linked, append(rest, itemsAt(selections, left)...)
}

// linkHeld links packages whose file locks are held, and renews their receipts.
func (in *Installer) linkHeld(ctx context.Context, selections []resolve.Selection, found func(resolve.Selection) receipt.Provenance, at store.View, modes []link.Mode) (linked []Outcome, rest []resolve.Selection) {
	type attempt struct {
		outcome Outcome
		shared  []receipt.Pending // of the cache, whose status has changed; also if it has failed in the end
	}
	attempts, errs := par.Map(ctx, in.Fetcher.Limits.WithDefaults().Queries, selections, func(ctx context.Context, s resolve.Selection) (a attempt, err error) {
		a.outcome, a.shared, err = in.linkOneLocked(ctx, s, found(s), at, modes)
		return a, err
	})
	var outcomes []Outcome
	var shared []receipt.Pending
	for _, a := range attempts {
		outcomes, shared = append(outcomes, a.outcome), append(shared, a.shared...)
	}
	at.Record(ctx, shared...)
	return succeeded(selections, outcomes, errs)
}

// itemsAt returns the items at some indexes.
func itemsAt[T any](items []T, places []int) []T {
	some := make([]T, len(places))
	for i, at := range places {
		some[i] = items[at]
	}
	return some
}

// succeeded returns the outcomes without errors, and those selections that have
// none of them.
func succeeded(selections []resolve.Selection, outcomes []Outcome, errs []error) (linked []Outcome, rest []resolve.Selection) {
	for i, err := range errs {
		if err != nil {
			rest = append(rest, selections[i])
		} else {
			linked = append(linked, outcomes[i])
		}
	}
	return linked, rest
}

// linkModes is the order in which ways of linking are tried. From a cache that
// the user shares with Terraform that is a link to the package, as Terraform
// makes it; from tfdeps' own cache, what leaves ordinary files in Target.
func (in *Installer) linkModes() []link.Mode {
	switch {
	case in.Link != link.Auto:
		return []link.Mode{in.Link, link.Copy}
	case in.Cache.Shared:
		return []link.Mode{link.Symlink, link.Copy}
	default:
		return []link.Mode{link.Clone, link.Hardlink, link.Copy}
	}
}

// linkUnlocked links or copies a package that others may exchange at the same time.
func (in *Installer) linkUnlocked(ctx context.Context, s resolve.Selection, found receipt.Provenance, at store.View, modes []link.Mode) (Outcome, error) {
	own := at.IsOwn(in.cachePath(s))
	outcome, err := in.linkTree(ctx, s, found, in.cachePath(s), modes, func(used link.Mode, staged string) error {
		switch {
		case used == link.Symlink:
			return in.cacheHas(s)
		case !own:
			return verifyHash(ctx, staged, found.H1)
		}
		_, err := in.recheck(ctx, s, found, at)
		return err
	})
	return in.reportLinked(ctx, outcome, err)
}

// linkOneLocked links a package whose file lock is held. shared is the package
// in the cache, if its receipt has to be renewed; where others can write to the
// cache, it has none.
func (in *Installer) linkOneLocked(ctx context.Context, s resolve.Selection, found receipt.Provenance, at store.View, modes []link.Mode) (o Outcome, shared []receipt.Pending, err error) {
	own, before := at.IsOwn(in.cachePath(s)), receipt.Receipt{}
	if own {
		if before, err = in.recheck(ctx, s, found, at); err != nil {
			return Outcome{}, nil, err
		}
	}
	outcome, err := in.linkHashed(ctx, s, found, in.cachePath(s), own, modes)
	if own && outcome.Link == link.Hardlink {
		shared = append(shared, receipt.Pending{Name: in.packageName(s), Dir: in.cachePath(s), Receipt: before, Linked: true})
	}
	o, err = in.reportLinked(ctx, outcome, err)
	return o, shared, err
}

// linkHashed puts a package into Target that was hashed where it is. If others
// can write there, they may have exchanged it since, so the staged copy is
// hashed again. A symbolic link is not: what it leads to may be exchanged
// later, too.
func (in *Installer) linkHashed(ctx context.Context, s resolve.Selection, got receipt.Provenance, from string, own bool, modes []link.Mode) (Outcome, error) {
	return in.linkTree(ctx, s, got, from, modes, func(used link.Mode, staged string) error {
		if own || used == link.Symlink {
			return nil
		}
		return verifyHash(ctx, staged, got.H1)
	})
}

// verifyHash hashes a package in a stage, where only this process writes.
func verifyHash(ctx context.Context, staged string, want getproviders.Hash) error {
	h1, err := getproviders.HashDir(ctx, staged)
	if err == nil && h1 != want {
		err = errChanged
	}
	return err
}

// recheck makes sure that a package of the cache still is what it was when it
// was inspected, and returns the receipt that shows it. Where the status of
// files proves nothing, the inspection has to do.
func (in *Installer) recheck(ctx context.Context, s resolve.Selection, found receipt.Provenance, at store.View) (receipt.Receipt, error) {
	if receipt, ok := at.Known(in.packageName(s)); ok && receipt.H1 == found.H1 {
		return receipt, nil
	}
	if _, err := receipt.TakeRecord(in.cachePath(s)); in.Fetcher.EffectiveStateDir() == "" || err != nil {
		return found.Receipt(receipt.StatRecord{}), nil
	}
	h1, record, err := in.hashPackage(ctx, s, at)
	if err == nil && h1 != found.H1 {
		err = errChanged
	}
	return found.Receipt(record), err
}

// reportLinked reports that a package of the cache was put into Target, unless
// err says that it wasn't.
func (in *Installer) reportLinked(ctx context.Context, o Outcome, err error) (Outcome, error) {
	if err != nil {
		return Outcome{}, err
	}
	o.FromCache = true
	in.Fetcher.Emit(ctx, event.LinkedEvent{
		Addr: o.Selection.Provider, Version: o.Selection.Version, Dir: o.pendingReceipt.Dir, Cache: in.Cache.Dir,
		Link: o.Link, Reason: o.LinkReason, Authentication: o.Authentication,
	})
	return o, nil
}

// cacheHas returns an error if the package isn't in the cache. It is called
// between making a link to the package and publishing the link.
func (in *Installer) cacheHas(s resolve.Selection) error {
	_, err := os.Stat(in.cachePath(s))
	return err
}

// linkTree puts a package into Target from another directory of this machine.
// Before the result is published, verify is asked whether the staged package
// may be used.
func (in *Installer) linkTree(ctx context.Context, s resolve.Selection, got receipt.Provenance, from string, modes []link.Mode, verify func(used link.Mode, staged string) error) (Outcome, error) {
	stage, err := staging.New(in.Target.Dir)
	if err != nil {
		return Outcome{}, err
	}
	defer stage.Remove()
	used, reason, err := link.Tree(ctx, from, stage.PackagePath(), modes)
	if err == nil {
		err = verify(used, stage.PackagePath())
	}
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := in.publishInTarget(ctx, s, got, stage)
	outcome.Link, outcome.LinkReason = used, reason
	return outcome, err
}

// publishInTarget moves a package from its stage into Target.
func (in *Installer) publishInTarget(ctx context.Context, s resolve.Selection, got receipt.Provenance, stage *staging.Stage) (Outcome, error) {
	record, _ := receipt.TakeRecord(stage.PackagePath()) // only this process can write there
	dir := in.packagePath(s.Provider, s.Version)
	return Outcome{
		Selection: s, Authentication: got.Authentication, H1: got.H1, RegistryHashes: in.Fetcher.TrustedHashes(s.Provider, got.RegistryHashes),
		pendingReceipt: receipt.Pending{Name: in.packageName(s), Dir: dir, Receipt: got.Receipt(record)},
	}, stage.Publish(ctx, dir, got.H1)
}

// errChanged says that a package of the cache changed after it was inspected.
var errChanged = errors.New("the package in the shared cache has changed meanwhile")

// privateLinkModes are for packages that only this Target is going to use.
var privateLinkModes = []link.Mode{link.Hardlink, link.Copy}
