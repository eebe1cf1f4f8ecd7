package providercache

import (
	"context"
	"io/fs"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
	"github.com/tfdeps/tfdeps/providercache/internal/staging"
	"github.com/tfdeps/tfdeps/providercache/link"
)

// getAll gets all packages that aren't there.
func (v *vendor) getAll(ctx context.Context, packages []mirrorPackage) []mirrorKept {
	get := func(ctx context.Context, p mirrorPackage) (mirrorKept, error) {
		switch {
		case v.isPlaced(p.Selection.Provider):
			return v.getPlaced(ctx, p)
		case v.opts.Unpacked:
			return v.getUnpacked(ctx, p)
		}
		return v.getPacked(ctx, p)
	}
	kept, errs := par.Map(ctx, v.fetcher.Limits.withDefaults().Queries, packages, func(ctx context.Context, p mirrorPackage) (mirrorKept, error) {
		k, err := get(ctx, p)
		if err != nil {
			k.Err = failureOf(ctx, p.Selection, err)
		}
		v.fetcher.emit(ctx, MirrorDone{Package: k.Mirrored})
		return k, nil
	})
	for i, err := range errs {
		if err != nil { // it was never begun
			kept[i] = mirrorKept{mirrorPackage: packages[i]}
			kept[i].Err = failureOf(ctx, packages[i].Selection, err)
		}
	}
	return kept
}

// binding are the hashes of which a package that is fetched has to have one.
func (v *vendor) binding(p mirrorPackage) []getproviders.Hash {
	if len(ofScheme(p.recorded, getproviders.SchemeZH)) == 0 && p.Platform != v.fetcher.platform() {
		return nil
	}
	return p.recorded
}

// ask asks the source for a package.
func (v *vendor) ask(ctx context.Context, p mirrorPackage) (task, error) {
	pkg, err := v.fetcher.Source.Package(ctx, p.Selection.Provider, p.Selection.Version, p.Platform)
	if err != nil {
		return task{}, p.Selection.failed(StepMetadata, err)
	}
	return task{Selection: p.Selection, Package: pkg, Recorded: v.binding(p)}, nil
}

// getPacked finds an archive, or fetches it.
func (v *vendor) getPacked(ctx context.Context, p mirrorPackage) (mirrorKept, error) {
	k := mirrorKept{mirrorPackage: p}
	there, err := v.find(ctx, p.Selection.Provider, p.name)
	if err == nil && slices.ContainsFunc(p.recorded, there.Receipt.has) {
		k.Present, k.known = true, there
		if !v.believed(ctx, p, there.Receipt) {
			v.document(ctx, &k)
		}
		return k, v.put(&k)
	}
	t, failed := v.ask(ctx, p)
	if failed != nil {
		return k, failed
	}
	if err == nil {
		there.Receipt, k.Present, failed = v.adopt(ctx, t, there.Receipt)
		k.known = there
	}
	if failed == nil && !k.Present {
		k, failed = v.fetchInto(ctx, t, k, there, true) // it waits for what is signed about it
	}
	if failed != nil {
		return k, failed
	}
	k.documents = t.documents(ctx, p.Platform, k.known.Receipt.ZH)
	return k, v.put(&k)
}

// adopt reports whether an archive that is there is what would be fetched, and
// adds what the source says of it.
func (v *vendor) adopt(ctx context.Context, t task, there receipt) (receipt, bool, error) {
	sum, ok := archiveSum(there.ZH)
	if expected, known := t.expected(); !ok || known && expected != sum {
		return there, false, nil
	}
	trust, err := t.loadTrust(ctx)
	if err != nil || trust.Authenticator == nil {
		return there, false, err
	}
	vouched, err := t.judge(trust.Authenticator, getproviders.Digests{SHA256: sum, H1: there.H1, H1Archive: there.archiveH1()}, v.fetcher.Product)
	if err != nil { // fetching it tells what is wrong
		return there, false, nil
	}
	there.Signed, there.TrustLevel, there.KeyID, there.Told = vouched.Signed, vouched.TrustLevel, vouched.KeyID, t.otherRegistryHashes(trust)
	return there, true, nil
}

// getUnpacked finds a package, or fetches and unpacks it.
func (v *vendor) getUnpacked(ctx context.Context, p mirrorPackage) (mirrorKept, error) {
	k := mirrorKept{mirrorPackage: p}
	if h1, err := hashUnpacked(ctx, p.Path); err == nil && slices.Contains(p.recorded, h1) {
		k.Present, k.known = true, published{Name: p.name, Dir: p.Path, Receipt: receipt{H1: h1}}
		return k, nil
	}
	t, err := v.packedTask(ctx, p)
	if err != nil {
		t, err = v.ask(ctx, p)
	}
	if err != nil {
		return k, err
	}
	v.fetcher.emit(ctx, MirrorFetch{Package: p.Mirrored, Local: t.isLocal()})
	stage, err := staging.New(v.opts.Dir)
	if err != nil {
		return k, t.failed(StepPublish, err)
	}
	defer stage.Remove()
	got, err := v.obtainCopy(ctx, t, stage)
	if err != nil {
		return k, err
	}
	if err := stage.Publish(ctx, p.Path, got.H1); err != nil {
		return k, t.failed(StepPublish, err)
	}
	k.Authentication = got.Authentication
	k.known = published{Name: p.name, Dir: p.Path, Receipt: got.receipt(statRecord{})}
	return k, nil
}

// packedTask is for a package whose archive was vendored before, and is what is
// locked: nobody needs to be asked.
func (v *vendor) packedTask(ctx context.Context, p mirrorPackage) (task, error) {
	s := p.Selection
	name := mirrorDir(s.Provider) + "/" + getproviders.PackedName(s.Provider, s.Version, p.Platform)
	there, err := v.find(ctx, s.Provider, name)
	if err == nil && !slices.ContainsFunc(p.recorded, there.Receipt.has) {
		err = fs.ErrNotExist
	}
	return task{
		Selection: s, Recorded: p.recorded,
		Package: getproviders.Package{Location: getproviders.LocalArchive(v.path(name))},
	}, err
}

// isLocal reports whether the package is on this machine.
func (t task) isLocal() bool {
	return !download.IsRemote(t.Package.Location)
}

// obtainCopy is obtain for a package that has to be here: a link to where it is
// on this machine would lead nowhere on another one.
func (v *vendor) obtainCopy(ctx context.Context, t task, stage *staging.Stage) (genuine, error) {
	dir, unpacked := t.Package.Location.(getproviders.LocalDirectory)
	if !unpacked {
		return v.fetcher.obtain(ctx, t, stage)
	}
	if _, _, err := link.Tree(ctx, string(dir), stage.PackagePath(), []link.Mode{link.Copy}); err != nil {
		return genuine{}, t.failed(StepFetch, err)
	}
	return v.fetcher.judgeDirectory(ctx, t, stage.PackagePath())
}

// hashUnpacked hashes a package that is a directory, and no link to one.
func hashUnpacked(ctx context.Context, dir string) (getproviders.Hash, error) {
	info, err := lstat(dir)
	if err == nil && !info.Mode.IsDir() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", err
	}
	return getproviders.HashDir(ctx, dir)
}
