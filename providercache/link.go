package providercache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/treehash"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// link links packages of the cache into Target. Steps that can't be linked, for example because the
// package was removed meanwhile, stay in the state linking: their packages have to be fetched.
func (in *Installer) link(ctx context.Context, all steps) {
	if len(all) == 0 {
		return
	}
	modes := in.linkModes(all.selections()...)
	unlocked := slices.Index(modes, link.Hardlink)
	if unlocked < 0 {
		in.linkMany(ctx, all, in.cacheView(), modes, linker.unlocked)
		return
	}
	if unlocked > 0 && link.MayClone(in.Target.Dir) { // if one can't be cloned, none can: one attempt is enough
		if in.linkMany(ctx, all[:1], in.cacheView(), modes[:unlocked], linker.unlocked); all[0].todo == nothing {
			in.linkMany(ctx, all[1:], in.cacheView(), modes[:unlocked], linker.unlocked)
		}
	}
	// Hard links change the ctime of the cache's files, which receipts record. So a receipt is checked
	// before and renewed after linking, while the package's file lock is held. This is done for many
	// packages at once, because a receipt counts only some moments after the last change.
	store.EachLocked(ctx, in.Cache, all.to(linking), func(s *step) string { return in.packageName(s.Selection) }, func(held []*step) {
		in.linkMany(ctx, held, in.cacheView(), modes[unlocked:], linker.locked)
	})
}

// linkMany links packages, many at once by one, and ends and reports the steps that succeed. one
// also returns packages of the cache whose stat changed, even if the linking failed in the end.
func (in *Installer) linkMany(ctx context.Context, all steps, at store.View, modes []link.Mode,
	one func(linker, context.Context, getproviders.Selection, receipt.Provenance) (o outcome, shared []receipt.Pending, err error)) {
	l, err := in.newLinker(at, modes)
	if err != nil {
		return
	}
	defer l.stages.Remove()
	changed, _ := par.Map(ctx, in.fetcher().Limits.Queries, all, func(ctx context.Context, s *step) ([]receipt.Pending, error) {
		cached := *s.local.Cached
		if len(s.warnings) > 0 {
			cached.Warnings = s.warnings
		}
		outcome, shared, err := one(l, ctx, s.Selection, cached)
		if err == nil {
			outcome.State = event.Linked
			s.outcome, s.todo = outcome, nothing
			in.fetcher().Emit(ctx, event.Event{Kind: event.Done, Outcome: outcome.Outcome})
		}
		return shared, nil
	})
	at.Record(ctx, slices.Concat(changed...)...)
}

// linkModes returns the ways to link packages of the cache, in the order in which to try them.
func (in *Installer) linkModes(packages ...getproviders.Selection) []link.Mode {
	modes, _ := in.linkOrder(packages...)
	return modes
}

// linkOrder is linkModes, and why a symbolic link, which would be first, isn't among them.
func (in *Installer) linkOrder(packages ...getproviders.Selection) ([]link.Mode, error) {
	var dirs []string
	for _, s := range packages {
		dirs = append(dirs, in.cachePath(s))
	}
	return link.Order(in.Link, in.Cache.Dir, in.Cache.Shared, dirs...)
}

// linker links or copies packages into Target through one private directory.
type linker struct {
	in     *Installer
	at     store.View // the cache
	modes  []link.Mode
	stages *staging.Batch
}

// newLinker makes the private directory, which the caller removes.
func (in *Installer) newLinker(at store.View, modes []link.Mode) (linker, error) {
	stages, err := staging.NewBatch(in.Target.Dir)
	return linker{in, at, modes, stages}, err
}

// linkOne links one package, which was hashed at from, into Target.
func (in *Installer) linkOne(ctx context.Context, s getproviders.Selection, got receipt.Provenance, from string, at store.View, modes []link.Mode) (outcome, error) {
	l, err := in.newLinker(at, modes)
	if err != nil {
		return outcome{}, err
	}
	defer l.stages.Remove()
	return l.hashed(ctx, s, got, from, at.IsOwn(from))
}

// unlocked links or copies a package without its file lock, so that other processes may exchange it meanwhile.
func (l linker) unlocked(ctx context.Context, s getproviders.Selection, found receipt.Provenance) (o outcome, _ []receipt.Pending, err error) {
	from := l.in.cachePath(s)
	own := l.at.IsOwn(from)
	o, err = l.tree(ctx, s, found, from, func(used link.Mode, staged string) error {
		switch {
		case used == link.Symlink: // the package may have been removed before the link is published
			_, err := os.Stat(from)
			return err
		case !own:
			return verifyHash(ctx, staged, found.H1)
		}
		_, err := l.in.recheck(ctx, s, found, l.at)
		return err
	})
	return o, nil, err
}

// locked links a package whose file lock is held. shared is the package in the cache, if
// its receipt has to be renewed; a cache that others can write to has no receipts.
func (l linker) locked(ctx context.Context, s getproviders.Selection, found receipt.Provenance) (o outcome, shared []receipt.Pending, err error) {
	from := l.in.cachePath(s)
	before, own := l.at.KnownOwn(l.in.packageName(s))
	if !own || before.H1 != found.H1 {
		if own = l.at.IsOwn(from); own {
			before, err = l.in.recheck(ctx, s, found, l.at)
		}
		if err != nil {
			return o, nil, err
		}
	}
	o, err = l.hashed(ctx, s, found, from, own)
	if own && o.Link == link.Hardlink {
		shared = append(shared, receipt.Pending{Name: l.in.packageName(s), Dir: from, Receipt: before, Linked: true})
	}
	return o, shared, err
}

// hashed links a package that was hashed at from. If others can write there, they
// may have exchanged it since, so the staged copy is hashed again. A symbolic link
// isn't checked, because its target may be exchanged later, too.
func (l linker) hashed(ctx context.Context, s getproviders.Selection, got receipt.Provenance, from string, own bool) (outcome, error) {
	return l.tree(ctx, s, got, from, func(used link.Mode, staged string) error {
		if own || used == link.Symlink {
			return nil
		}
		return verifyHash(ctx, staged, got.H1)
	})
}

// tree links a package from another directory of this machine into Target. It
// publishes the result only if verify accepts the staged package.
func (l linker) tree(ctx context.Context, s getproviders.Selection, got receipt.Provenance, from string, verify func(used link.Mode, staged string) error) (o outcome, err error) {
	stage := l.stages.Stage()
	l.in.fetcher().EmitPhase(ctx, Outcome{Selection: s}, event.Linking)
	used, reason, err := link.Tree(ctx, from, stage.PackagePath(), l.modes)
	if err == nil && used != link.Symlink {
		link.KeepTimes(from, stage.PackagePath(), l.in.fetcher().Now()) // else the package gets no receipt for 20 ms
	}
	if err == nil {
		err = verify(used, stage.PackagePath())
	}
	if err != nil {
		return o, err
	}
	outcome, err := l.in.publishInTarget(ctx, s, got, stage)
	if used != link.Symlink && from == l.in.cachePath(s) {
		_, exposed := l.in.linkOrder(s)
		reason = errors.Join(exposed, reason)
	}
	outcome.Link, outcome.LinkReason = used, reason
	return outcome, err
}

// verifyHash hashes a package in a stage, to which only this process writes.
func verifyHash(ctx context.Context, staged string, want getproviders.Hash) error {
	h1, err := treehash.Dir(ctx, staged)
	if err == nil && h1 != want {
		err = errChanged
	}
	return err
}

// recheck makes sure that a package of the cache is still the one that was inspected, and returns its
// receipt. Without receipts, or where no stat record can be made, it relies on the inspection.
func (in *Installer) recheck(ctx context.Context, s getproviders.Selection, found receipt.Provenance, at store.View) (receipt.Receipt, error) {
	if receipt, ok := at.Known(in.packageName(s)); ok && receipt.H1 == found.H1 {
		return receipt, nil
	}
	if _, err := receipt.TakeRecord(in.cachePath(s)); in.fetcher().StateDir == "" || err != nil {
		return found.Receipt(receipt.StatRecord{}), nil
	}
	h1, record, err := in.hashPackage(ctx, s, at)
	if err == nil && h1 != found.H1 {
		err = errChanged
	}
	return found.Receipt(record), err
}

// publishInTarget moves a package from its stage into Target.
func (in *Installer) publishInTarget(ctx context.Context, s getproviders.Selection, got receipt.Provenance, stage *staging.Stage) (o outcome, err error) {
	record, err := got.CompleteRecord(stage.PackagePath())
	if err != nil {
		return o, err
	}
	dir := in.packagePath(s.Provider, s.Version)
	aside, err := in.moveAside(s, stage, dir)
	if err != nil {
		return o, err
	}

	adopted, err := stage.Publish(ctx, dir, got.H1)
	if adopted && err == nil && in.fetcher().StateDir != "" {
		record, err = in.recordAdopted(ctx, s, in.targetView(), got.H1)
	}

	return outcome{
		Outcome: Outcome{
			Selection:      s,
			State:          event.Fetched,
			Path:           dir,
			MovedAside:     aside,
			Authentication: got.Authentication,
			H1:             got.H1,
		},
		registryHashes: in.fetcher().TrustedHashes(s.Provider, got.RegistryHashes),
		receipt:        receipt.Pending{Name: in.packageName(s), Dir: dir, Receipt: got.Receipt(record)},
	}, err
}

// moveAside keeps what a user has put into the place of a package in Target, and returns where it is now; "" means that
// there was nothing. What programs put there isn't kept: a link to a package in a cache or an unpacked mirror, which
// has the path of the package at its end, and a package that is as its receipt records it.
func (in *Installer) moveAside(s getproviders.Selection, stage *staging.Stage, dir string) (aside string, err error) {
	name := in.packageName(s)
	target, err := os.Readlink(dir)
	if err == nil && strings.HasSuffix(filepath.ToSlash(target), "/"+name) {
		return "", nil
	}

	info, err := os.Lstat(dir)
	if err == nil && info.IsDir() {
		_, unchanged := in.targetView().Known(name)
		if unchanged {
			return "", nil
		}
	}
	return stage.MoveAside(dir)
}

// errChanged says that a package changed after it was hashed or inspected.
var errChanged = errors.New("the package has changed meanwhile: another program writes to it")
