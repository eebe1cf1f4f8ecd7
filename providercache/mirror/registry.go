package mirror

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/internal/archivedir"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
)

// Registry returns a destination that is an OCI registry: versions get
// missing archives, and the documents that their publishers signed. What
// is published never changes or disappears, so Prune is an error.
func Registry(to remote.Releases) Destination { return registry{to} }

type registry struct{ remote.Releases }

func (to registry) open(m *run) error {
	if m.opts.Prune {
		return errors.New("nothing can be removed from a registry: its own tools do that")
	}
	m.place, m.byVersions = &inRegistry{run: m, to: to.Releases}, true
	return m.temporary()
}

// inRegistry is one run for a registry.
type inRegistry struct {
	run   *run
	to    remote.Releases
	there map[release]released
}

type release struct {
	provider getproviders.Provider
	version  getproviders.Version
}

func releaseOf(p archivedir.Item) release { return release{p.Provider, p.Version} }

// released is what the registry has of a version.
type released struct {
	archives []remote.Release
	signed   bool
	err      error
}

func (r *inRegistry) path(s getproviders.Selection, _ string) string {
	return r.to.Path(s.Provider, s.Version)
}

// look asks for all versions. If a version's request fails, only its packages fail.
func (r *inRegistry) look(ctx context.Context, packages []archivedir.Item) error {
	groups := byVersion(packages)
	found, errs := par.Map(ctx, r.run.dir.Fetcher.Limits.Queries, groups, func(ctx context.Context, group []archivedir.Item) (there released, err error) {
		s := group[0].Selection
		there.archives, there.signed, err = r.to.Published(ctx, s.Provider, s.Version)
		return there, err
	})
	r.there = map[release]released{}
	for i, group := range groups {
		found[i].err = errs[i]
		r.there[releaseOf(group[0])] = found[i]
	}
	return nil
}

// find implements place.
func (r *inRegistry) find(_ context.Context, p archivedir.Item) (c archivedir.Claim, err error) {
	there := r.there[releaseOf(p)]
	if there.err != nil {
		return c, p.Failed(during.Publish, there.err)
	}
	c.Signed = there.signed
	for _, a := range there.archives {
		if a.Platform == p.Platform {
			c.Known = p.Pending(receipt.Provenance{ZH: a.ZH, H1: a.H1}.Receipt(receipt.StatRecord{}), true)
			c.Has = c.Known.Receipt.Has
			if stored, ok := a.From.(getproviders.Archive); ok {
				c.Open = func(ctx context.Context) (io.ReadCloser, error) {
					opened, err := stored.Open(ctx, 0)
					return opened.Body, err
				}
			}
		}
	}
	return c, nil
}

// Put publishes the packages of a version together, so that the version changes only once.
func (r *inRegistry) Put(ctx context.Context, kept []archivedir.Kept) error {
	var archives []remote.Release
	var documents *getproviders.SignedDocuments
	s := kept[0].Selection
	for _, k := range kept {
		if documents == nil && k.Err == nil {
			documents = k.Documents
		}
		if k.Stage == nil {
			continue
		}
		defer k.Stage.Remove()
		file, err := os.Open(k.Stage.ArchivePath())
		if err != nil {
			return s.Failed(during.Publish, err)
		}
		defer file.Close()
		known := k.Known.Receipt
		archives = append(archives, remote.Release{
			Platform: k.Platform, ZH: known.ZH, H1: known.H1, Archive: io.NewSectionReader(file, 0, known.ArchiveBytes), From: k.From.Location,
		})
	}
	if len(archives) == 0 && (documents == nil || r.there[releaseOf(kept[0].Item)].signed) {
		return nil
	}
	if err := r.to.Publish(ctx, s.Provider, s.Version, archives, documents); err != nil {
		return s.Failed(during.Publish, err)
	}
	return nil
}
