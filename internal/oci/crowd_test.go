package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/remote"
)

// TestPush_FiftyPublishAndFiftyRead has five publishers for each version add a platform of their own, while others
// read: a tag never leads to missing or wrong content, and in the end nothing is lost.
func TestPush_FiftyPublishAndFiftyRead(t *testing.T) {
	t.Parallel()
	crowd := peertest.Rounds(10, 50) // fifty keep the registry busy for ten seconds
	var versions []string
	for i := range crowd / 5 {
		versions = append(versions, fmt.Sprintf("1.0.%d", i))
	}
	s := start(t, false)
	type job struct {
		v      string
		target remote.Release
	}
	var jobs []job
	for i := range crowd {
		plat := getproviders.Platform{OS: "linux", Arch: fmt.Sprintf("cpu%d", i%5)}
		jobs = append(jobs, job{versions[i/5], target(plat, fmt.Sprintf("archive %d", i))})
	}
	push := func(ctx context.Context, j job) (struct{}, error) {
		j.target.Archive = io.NewSectionReader(j.target.Archive, 0, j.target.Archive.Size())
		return struct{}{}, s.client.Push(ctx, s.at, release(j.v, j.target))
	}
	published, end := context.WithCancel(t.Context())
	read := func(ctx context.Context, versions ...string) (archives int, err error) {
		for _, text := range versions {
			v := version(text)
			platforms, err := s.source.Describe(widget).Platforms(ctx, widget, v)
			if errors.Is(err, getproviders.ErrNotFound) {
				continue // it isn't published yet
			}
			if err != nil {
				return 0, err
			}
			for _, plat := range platforms {
				err := readArchive(ctx, s, v, plat)
				if errors.Is(err, getproviders.ErrPlatformMissing) {
					continue // it was lost for a moment
				}
				if err != nil {
					return 0, fmt.Errorf("%s for %s is listed: %w", v, plat, err)
				}
				archives++
			}
		}
		return archives, nil
	}
	must.Succeed(t, par.Together(t.Context(),
		func(ctx context.Context) error {
			defer end()
			_, errs := par.Map(ctx, crowd, jobs, push)
			return errors.Join(errs...)
		},
		func(ctx context.Context) error {
			_, errs := par.Map(ctx, crowd, make([]struct{}, crowd), func(ctx context.Context, _ struct{}) (struct{}, error) {
				for {
					if _, err := read(ctx, versions[rand.IntN(len(versions))]); err != nil || published.Err() != nil {
						return struct{}{}, err
					}
					if err := par.Pause(ctx, 200*time.Millisecond); err != nil { // so that publishers have a turn, too
						return struct{}{}, err
					}
				}
			})
			return errors.Join(errs...)
		}))
	must.Equal(t, must.Get(read(t.Context(), versions...))(t), crowd)
}

// TestPush_ManyPublishOneVersion lets each publisher add a platform of its own to one version: all of them are
// there when the last one has ended.
func TestPush_ManyPublishOneVersion(t *testing.T) {
	t.Parallel()
	crowd := peertest.Rounds(10, 50) // fifty keep the registry busy for ten seconds
	s := start(t, false)
	var all []remote.Release
	for i := range crowd {
		all = append(all, target(getproviders.Platform{OS: "linux", Arch: fmt.Sprintf("cpu%d", i)}, fmt.Sprintf("archive %d", i)))
	}
	_, errs := par.Map(t.Context(), crowd, all, func(ctx context.Context, each remote.Release) (struct{}, error) {
		return struct{}{}, (&Client{HTTP: s.Client}).Push(ctx, s.at, release("1.0.0", each))
	})
	must.Succeed(t, errors.Join(errs...))
	must.Len(t, s.platforms(t), crowd)
	must.Len(t, must.Get(s.source.Versions(t.Context(), widget))(t).Versions, 1)
}

// readArchive reads an archive, and compares it with its listed hash.
func readArchive(ctx context.Context, s started, v getproviders.Version, plat getproviders.Platform) error {
	pkg, err := s.source.Package(ctx, widget, v, plat)
	if err != nil {
		return err
	}
	return installtest.ReadArchive(ctx, pkg)
}
