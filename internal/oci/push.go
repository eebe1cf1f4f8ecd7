package oci

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/par"
	remotes "github.com/tfdeps/tfdeps/internal/remote"
)

// Annotations of the platforms' descriptors. OpenTofu ignores them.
const (
	annotationZH = "io.github.tfdeps.provider.zh"
	annotationH1 = "io.github.tfdeps.provider.h1"
)

// Release is a version to publish.
type Release struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	// Targets are the archives for platforms. If one is From another repository of the same registry, it is mounted from
	// there and not sent.
	Targets []remotes.Release
	// Signed has the version's signed documents; nil if unknown. They are published if they are valid for all
	// archives of the version.
	Signed *getproviders.SignedDocuments
}

// Pushed returns a version's published packages without the archives; none if the version or the repository
// doesn't exist. Packages that another program published have a ZH and no H1. signed says that the version has
// signed documents.
func (c *Client) Pushed(ctx context.Context, r Repository, v getproviders.Version) (all []remotes.Release, signed bool, err error) {
	repo, err := c.open(ctx, r)
	if err != nil {
		return nil, false, err
	}
	index, _, err := readIndex(ctx, repo, Tag(v))
	if isMissing(err) {
		return nil, false, nil
	}
	if err == nil {
		all, err = allPublished(ctx, repo, index)
	}
	return all, index.signed() != nil, explained(err)
}

// published returns the archive of a target in an index, with its hashes.
func published(ctx context.Context, repo *remote.Repository, target ocispec.Descriptor) (found remotes.Release, err error) {
	layer, err := readLayer(ctx, repo, target, typeTarget)
	if err != nil {
		return found, err
	}
	found = remotes.Release{
		Platform: platformOf(target), ZH: getproviders.Hash(hashing.ZH + ":" + layer.Digest.Encoded()),
		From: &archive{repo, Repository{Registry: repo.Reference.Registry, Name: repo.Reference.Repository}, layer.Digest, layer.Size},
	}
	if h1, err := getproviders.ParseHash(target.Annotations[annotationH1]); err == nil && target.Annotations[annotationZH] == string(found.ZH) {
		found.H1 = h1
	}
	return found, nil
}

// Push publishes packages of a version, and its signed documents. It doesn't send what the repository has. It sends blobs first,
// then the platforms' manifests, the index, and the tag last, so that everything that a tag refers to always exists.
//
// Several processes may publish to one repository concurrently. A registry can't set a tag conditionally, so each process
// announces its additions, and reads the tag again after setting it: if another process has overwritten it, Push repairs it
// before it returns. If a process is killed between these steps, the next Push of the version within an hour repairs it, or a
// Push of the missing packages. Errors say that the repository doesn't exist, or that it has another archive, or are the
// registry's.
func (c *Client) Push(ctx context.Context, r Repository, release Release) error {
	return c.push(ctx, r, release, time.Now)
}

func (c *Client) push(ctx context.Context, r Repository, release Release, now func() time.Time) error {
	repo, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	return c.withRepository(ctx, r, func() error {
		p := pushing{client: c, repo: repo, at: r, tag: Tag(release.Version), now: now, others: announcements{read: map[string][]ocispec.Descriptor{}, older: map[string]bool{}}}
		return p.push(ctx, release)
	})
}

func (p *pushing) push(ctx context.Context, release Release) error {
	var ours []ocispec.Descriptor
	for _, each := range release.Targets {
		described, err := p.target(ctx, each)
		if err != nil {
			return failed(ctx, err)
		}
		ours = append(ours, described)
	}
	failures := 0
	for tries := range tagTries {
		again, err := p.publish(ctx, release, ours)
		if answer, ok := errors.AsType[*errcode.ErrorResponse](err); ok && isTemporary(answer) && failures < tagFailures {
			failures++ // some registries answer this while another publisher sets the tag
			again = tagPause
		} else if err != nil && !errors.Is(err, errTagMoved) {
			return failed(ctx, err)
		}
		if again == 0 {
			return nil
		}
		if err != nil {
			again <<= min(tries, 5)
		}
		if stopped := par.Pause(ctx, again/2+rand.N(again)); stopped != nil { // random, so that publishers don't retry at the same moment
			return stopped
		}
	}
	return failed(ctx, errTagMoved)
}

const (
	tagTries = 24
	// tagFailures is how many of the tries may fail in the registry.
	tagFailures = 4
	tagPause    = 100 * time.Millisecond
	// mergePause is the least assumed time for a registry's answer.
	mergePause = 5 * time.Millisecond
	// longestMergePause is the longest pause after an announcement, even for a slow registry: reading the tag again
	// finds lost additions.
	longestMergePause = 10 * time.Second
)

// isTemporary reports whether a registry may answer differently a moment later.
func isTemporary(answer *errcode.ErrorResponse) bool {
	return answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout
}

// errTagMoved says that another process has set the tag concurrently.
var errTagMoved = errors.New("others keep publishing the same version; run it again")

// pushing is one Push.
type pushing struct {
	client *Client
	repo   *remote.Repository
	at     Repository
	tag    string
	now    func() time.Time
	set    digest.Digest // the index to which this Push has set the tag; "" before
	others announcements
}

// failed is explained for an error that an interrupt may have caused.
func failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explained(err)
}

// publish adds the missing targets to the tag's index, and those that others have announced. again is how long to
// wait before the next call; 0 if everything is published, or after an error.
func (p *pushing) publish(ctx context.Context, release Release, ours []ocispec.Descriptor) (again time.Duration, err error) {
	index, before, err := readIndex(ctx, p.repo, p.tag)
	if err != nil && !isMissing(err) {
		return 0, err
	}
	if err != nil {
		before = ocispec.Descriptor{}
		index.Index = ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, ArtifactType: typeProvider}
	}
	found := index.Manifests
	complete := func(announced []ocispec.Descriptor, looking bool) error {
		index.Manifests = slices.Clone(found)
		index.merge(announced)
		err := p.add(ctx, &index, ours)
		same := index.equals(found)
		if err != nil || looking && !same || !looking && same && before.Digest == p.set { // the index that this Push has set is complete
			return err
		}
		return p.listSigned(ctx, &index, release, !same)
	}
	if p.set == "" { // after this Push has set the tag, the announcements must be read, too
		if err := complete(nil, true); err != nil || index.equals(found) {
			return 0, err
		}
	}
	begun := p.now()
	references, recent, err := p.listed(ctx)
	if err == nil && !p.others.made {
		took := max(p.now().Sub(begun), mergePause)
		if err = p.announceAll(ctx, index, release, ours); err == nil && recent > 0 { // another publisher may add all announcements
			return min(took*16+time.Duration(recent)*took/2, longestMergePause), nil
		}
	}
	var announced []ocispec.Descriptor
	if err == nil {
		announced, err = p.announced(ctx, references, ours)
	}
	if err == nil {
		err = complete(announced, false)
	}
	if err != nil || index.equals(found) {
		return 0, err
	}
	return tagPause, p.setTag(ctx, index, before.Digest)
}

// add adds the targets that an index doesn't have.
func (p *pushing) add(ctx context.Context, index *imageIndex, targets []ocispec.Descriptor) error {
	for _, each := range targets {
		has, err := p.has(ctx, *index, each)
		if err != nil {
			return err
		}
		if !has {
			index.Manifests = append(index.Manifests, each)
		}
	}
	return nil
}

// setTag sets the tag to an index, if the tag still refers to the index that was read, or to none. Otherwise it returns
// errTagMoved.
func (p *pushing) setTag(ctx context.Context, index imageIndex, before digest.Digest) error {
	slices.SortStableFunc(index.Manifests, func(a, b ocispec.Descriptor) int { return platformOf(a).Compare(platformOf(b)) })
	now, err := p.repo.Manifests().Resolve(ctx, p.tag)
	if err != nil && !errors.Is(err, errdef.ErrNotFound) {
		return err
	}
	if now.Digest != before {
		return errTagMoved
	}
	set, err := p.manifest(ctx, ocispec.MediaTypeImageIndex, index.Index, p.tag)
	if err == nil {
		p.set = set.Digest
	}
	return err
}

// has reports whether an index has a target, from any publisher. Another archive for its platform is an error.
func (p *pushing) has(ctx context.Context, index imageIndex, ours ocispec.Descriptor) (bool, error) {
	plat := platformOf(ours)
	there, _, err := index.target(plat)
	if err != nil || there == nil || there.Digest == ours.Digest {
		return there != nil, err
	}
	found, err := published(ctx, p.repo, *there)
	if err == nil && string(found.ZH) != ours.Annotations[annotationZH] {
		err = fmt.Errorf("%s:%s has another archive for %s: it was published with other bytes, and is not replaced", p.at, p.tag, plat)
	}
	return true, err
}

// platformOf returns the platform of a target, or zero.
func platformOf(d ocispec.Descriptor) getproviders.Platform {
	if d.Platform == nil {
		return getproviders.Platform{}
	}
	return getproviders.Platform{OS: d.Platform.OS, Arch: d.Platform.Architecture}
}
