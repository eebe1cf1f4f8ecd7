package providercache

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
)

// obtain makes the package, with all checks passed, in the stage.
func (f *Fetcher) obtain(ctx context.Context, t task, stage *staging) (genuine, error) {
	switch at := t.Package.Location.(type) {
	case getproviders.LocalDirectory:
		return f.obtainDirectory(ctx, t, string(at), stage)
	case getproviders.LocalArchive, getproviders.HTTPArchive:
		return f.obtainArchive(ctx, t, stage.archivePath(), stage.packagePath(), f.progress(ctx, t))
	default:
		return genuine{}, t.failed(StepFetch, fmt.Errorf("can't fetch from a location of type %T", at))
	}
}

// obtainArchive receives an archive and unpacks it to dir, or only hashes
// what is in it if dir is "".
func (f *Fetcher) obtainArchive(ctx context.Context, t task, path, dir string, progress func(done, total int64)) (genuine, error) {
	received, authenticator, err := f.receive(ctx, t, path, dir, progress)
	if err != nil {
		return genuine{}, err
	}
	defer received.discard()
	digests := getproviders.Digests{SHA256: received.SHA256}
	authentication, err := t.judge(authenticator, digests, f.Product)
	undecided := errors.Is(err, errNeedsH1)
	if err != nil && !undecided {
		return genuine{}, err
	}
	content, err := f.unpack(ctx, t, received, dir)
	if err != nil {
		return genuine{}, err
	}
	if undecided {
		digests.H1, digests.H1Archive = content.H1, content.H1Archive
		if authentication, err = t.judge(authenticator, digests, f.Product); err != nil {
			return genuine{}, err
		}
	}
	return genuine{
		Authentication: authentication, H1: content.H1, H1Archive: content.otherH1(),
		ZH: getproviders.ZH(received.SHA256), Origin: t.origin(), ArchiveBytes: received.Size, Told: t.toldBy(authenticator),
	}, nil
}

// loadTrust gets what the package is judged by; nil if the source has nothing
// to say about it.
func (t task) loadTrust(ctx context.Context) (getproviders.Authenticator, error) {
	if trust, ok := t.offhand(); ok {
		return trust.Offhand(), nil
	}
	if t.Package.Trust == nil {
		return nil, nil
	}
	authenticator, err := t.Package.Trust.Load(ctx)
	if err != nil {
		return nil, t.failed(StepAuthenticate, err)
	}
	return authenticator, nil
}

// offhand is for a package of which a source might know more if it were asked,
// where that wouldn't be news: the lock file has hashes of archives already.
func (t task) offhand() (getproviders.Offhand, bool) {
	trust, ok := t.Package.Trust.(getproviders.Offhand)
	return trust, ok && len(ofScheme(t.Recorded, getproviders.SchemeZH)) > 0
}

// origin is where a package came from, as its receipt is to say. Where the source
// wasn't asked for all that it knows, that is "": a directory whose lock file has
// no hashes yet gets the package, and all about it, from the source.
func (t task) origin() string {
	if _, ok := t.offhand(); ok {
		return ""
	}
	return t.Package.Origin
}

// foretoldBy is foretold where what the package is judged by is here: that may
// know the checksum when its source doesn't.
func (t task) foretoldBy(authenticator getproviders.Authenticator) (sum [sha256.Size]byte, ok bool) {
	if sum, ok = t.foretold(); ok {
		return sum, true
	}
	if knows, ok := authenticator.(getproviders.Foreteller); ok {
		return knows.Foretell()
	}
	return sum, false
}

// unpack finishes what was unpacked on the way, or unpacks the archive if that
// came to nothing.
func (f *Fetcher) unpack(ctx context.Context, t task, from archive, dir string) (content unpacked, err error) {
	whole, err := from.open(t.Provider, f.Limits.withDefaults())
	if err != nil {
		return unpacked{}, t.failed(StepUnpack, err)
	}
	defer whole.file.Close()
	if from.Streamed.agrees(whole.entries) {
		content, err = from.Streamed.finish(whole.entries, dir)
	} else {
		content, err = f.unpackAfterwards(ctx, whole, from.Size, dir)
	}
	if err != nil {
		return unpacked{}, t.failed(StepUnpack, err)
	}
	return content, nil
}

// unpackAfterwards waits for a core and unpacks.
func (f *Fetcher) unpackAfterwards(ctx context.Context, from opened, size int64, dir string) (unpacked, error) {
	gates, err := f.gates(ctx)
	if err != nil {
		return unpacked{}, err
	}
	leave, err := gates.unpacks.Acquire(ctx, size)
	if err != nil {
		return unpacked{}, err
	}
	defer leave()
	return from.unpack(ctx, dir)
}
