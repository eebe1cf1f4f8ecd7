package providercache

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// genuine is what is known of a package that passed all checks.
type genuine struct {
	Authentication getproviders.Authentication
	H1             getproviders.Hash
}

// acquire gets one package and puts it into its place.
func (in *Installer) acquire(ctx context.Context, t task) (Outcome, error) {
	in.emit(FetchBegin{Provider: t.Provider, Version: t.Version, Location: t.Package.Location})
	stage, err := in.Target.stage()
	if err != nil {
		return Outcome{}, t.failed(StepPublish, err)
	}
	defer stage.remove()
	got, err := in.obtain(ctx, t, stage)
	if err != nil {
		return Outcome{}, err
	}
	dir := in.packagePath(t.Provider, t.Version)
	if err := stage.publish(ctx, dir, got.H1); err != nil {
		return Outcome{}, t.failed(StepPublish, err)
	}
	in.emit(FetchDone{Provider: t.Provider, Version: t.Version, Dir: dir, Authentication: got.Authentication})
	return Outcome{Selection: t.Selection, Authentication: got.Authentication, H1: got.H1}, nil
}

// obtain makes the package, with all checks passed, in the stage.
func (in *Installer) obtain(ctx context.Context, t task, stage *staging) (genuine, error) {
	switch at := t.Package.Location.(type) {
	case getproviders.LocalDirectory:
		return in.obtainDirectory(ctx, t, string(at), stage)
	case getproviders.LocalArchive, getproviders.HTTPArchive:
		return in.obtainArchive(ctx, t, stage.archivePath(), stage.packagePath(), in.progress(t))
	default:
		return genuine{}, t.failed(StepFetch, fmt.Errorf("can't fetch from a location of type %T", at))
	}
}

// obtainArchive receives an archive and unpacks it to dir, or only hashes
// what is in it if dir is "".
func (in *Installer) obtainArchive(ctx context.Context, t task, path, dir string, progress func(done, total int64)) (genuine, error) {
	received, authenticator, err := in.receive(ctx, t, path, progress)
	if err != nil {
		return genuine{}, err
	}
	digests := getproviders.Digests{SHA256: received.SHA256}
	authentication, err := t.judge(authenticator, digests, in.Engine)
	undecided := errors.Is(err, errNeedsH1)
	if err != nil && !undecided {
		return genuine{}, err
	}
	content, err := in.unpack(ctx, t, received, dir)
	if err != nil {
		return genuine{}, err
	}
	if undecided {
		digests.H1, digests.H1Archive = content.H1, content.H1Archive
		if authentication, err = t.judge(authenticator, digests, in.Engine); err != nil {
			return genuine{}, err
		}
	}
	return genuine{authentication, content.H1}, nil
}

// receive gets the archive and what it is judged by, both at the same time.
func (in *Installer) receive(ctx context.Context, t task, path string, progress func(done, total int64)) (received archive, authenticator getproviders.Authenticator, err error) {
	gates, err := in.gates(ctx)
	if err != nil {
		return archive{}, nil, t.failed(StepFetch, err)
	}
	download := func(ctx context.Context) error {
		err := withGate(ctx, gates.downloads, func() (err error) {
			received, err = in.download(ctx, t.Package.Location, path, progress)
			return err
		})
		if err != nil {
			return t.failed(StepFetch, err)
		}
		return nil
	}
	load := func(ctx context.Context) (err error) {
		authenticator, err = t.loadTrust(ctx)
		return err
	}
	err = par.Together(ctx, load, download)
	return received, authenticator, err
}

// loadTrust gets what the package is judged by; nil if the source has nothing
// to say about it.
func (t task) loadTrust(ctx context.Context) (getproviders.Authenticator, error) {
	if t.Package.Trust == nil {
		return nil, nil
	}
	authenticator, err := t.Package.Trust.Load(ctx)
	if err != nil {
		return nil, t.failed(StepAuthenticate, err)
	}
	return authenticator, nil
}

// unpack waits for a core and unpacks.
func (in *Installer) unpack(ctx context.Context, t task, from archive, dir string) (content unpacked, err error) {
	gates, err := in.gates(ctx)
	if err == nil {
		err = withGate(ctx, gates.unpacks, func() (err error) {
			content, err = unpack(ctx, from, dir, t.Provider, in.Limits.withDefaults())
			return err
		})
	}
	if err != nil {
		return unpacked{}, t.failed(StepUnpack, err)
	}
	return content, nil
}
