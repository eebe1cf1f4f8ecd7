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
	received, trust, err := f.receive(ctx, t, path, dir, progress)
	if err != nil {
		return genuine{}, err
	}
	defer received.discard()
	digests := getproviders.Digests{SHA256: received.SHA256}
	authentication, err := t.judge(trust.Authenticator, digests, f.Product)
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
		if authentication, err = t.judge(trust.Authenticator, digests, f.Product); err != nil {
			return genuine{}, err
		}
	}
	return genuine{
		Authentication: authentication, H1: content.H1, H1Archive: content.otherH1(),
		ZH: getproviders.ZH(received.SHA256), Origin: t.origin(), ArchiveBytes: received.Size, Told: t.otherRegistryHashes(trust),
	}, nil
}

// loadTrust gets what the package is authenticated by.
func (t task) loadTrust(ctx context.Context) (getproviders.Trust, error) {
	if t.localTrust() {
		return t.Package.Trust, nil
	}
	trust, err := t.Package.Trust.Loaded(ctx)
	if err != nil {
		return getproviders.Trust{}, t.failed(StepAuthenticate, err)
	}
	return trust, nil
}

// localTrust is for a package of which a source might know more if it were asked,
// where that wouldn't be news: the lock file has hashes of archives already.
func (t task) localTrust() bool {
	return t.Package.Trust.LocalTrust && len(ofScheme(t.Recorded, getproviders.SchemeZH)) > 0
}

// origin is where a package came from, as its receipt is to say. Where the source
// wasn't asked for all that it knows, that is "": a directory whose lock file has
// no hashes yet gets the package, and all about it, from the source.
func (t task) origin() string {
	if t.localTrust() {
		return ""
	}
	return t.Package.SourceURL
}

// expectedBy is the checksum that the archive should have by what the package is
// authenticated by.
func expectedBy(trust getproviders.Trust) (sum [sha256.Size]byte, ok bool) {
	return trust.ExpectedSHA256, trust.ExpectedSHA256 != [sha256.Size]byte{}
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
