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

// Annotations of the descriptors of platforms, which OpenTofu passes over.
const (
	annotationZH = "io.github.tfdeps.provider.zh"
	annotationH1 = "io.github.tfdeps.provider.h1"
)

// Release is what is published of a version.
type Release struct {
	Provider getproviders.Provider
	Version  getproviders.Version
	// Targets are the archives for platforms. If one is From another repository of the same registry, that is asked to take
	// it from there, and nothing is sent.
	Targets []remotes.Release
	// Signed is what the publisher has signed about the version; nil: there is nothing, or it isn't known. It is
	// published if it is true of all archives of the version.
	Signed *getproviders.SignedDocuments
}

// Pushed returns what is published of a version, without the archives; nothing if there is no such version or
// repository. What another program published has no H1, and a ZH. signed: there is something that a publisher has
// signed.
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

// published is the archive of a target of an index, and what is known of it.
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

// Push publishes packages of a version, and what is signed about it. What the repository has isn't sent. Blobs come
// first, then the manifests of platforms, the index, and the tag last, so that what a tag leads to is there at every
// moment.
//
// Several processes may publish to one repository at once. A registry has no condition for setting a tag, so that each
// of them announces what it adds, and looks at the tag again after it has set it: what another one has overwritten is
// repaired then, before Push returns. If a process is killed between these steps, the next Push of the version within
// an hour repairs it, or that of what is missing. Errors are that there is no repository, that another archive is there, and what
// the registry says.
func (c *Client) Push(ctx context.Context, r Repository, release Release) error {
	repo, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	return c.withRepository(ctx, r, func() error { return c.push(ctx, repo, r, release) })
}

func (c *Client) push(ctx context.Context, repo *remote.Repository, r Repository, release Release) error {
	p := pushing{client: c, repo: repo, at: r, tag: Tag(release.Version), now: c.Now, others: announcements{read: map[string][]ocispec.Descriptor{}, older: map[string]bool{}}}
	if p.now == nil {
		p.now = time.Now
	}
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
			failures++ // some registries answer so while another publisher sets the tag
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
		if stopped := par.Pause(ctx, again/2+rand.N(again)); stopped != nil { // not all at the same moment
			return stopped
		}
	}
	return failed(ctx, errTagMoved)
}

const (
	tagTries = 24
	// tagFailures is how many failures of the registry there may be among them.
	tagFailures = 4
	tagPause    = 100 * time.Millisecond
	// mergePause is the least that a registry is thought to need for an answer.
	mergePause = 5 * time.Millisecond
	// longestMergePause is the longest pause after an announcement, however slow the registry is: what is lost then is
	// found by reading again.
	longestMergePause = 10 * time.Second
)

// isTemporary reports whether a registry may answer otherwise a moment later.
func isTemporary(answer *errcode.ErrorResponse) bool {
	return answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusRequestTimeout
}

// errTagMoved says that another process has set the tag at the same time.
var errTagMoved = errors.New("others publish the same version all the time")

// pushing is one Push.
type pushing struct {
	client *Client
	repo   *remote.Repository
	at     Repository
	tag    string
	now    func() time.Time
	set    digest.Digest // what this has set the tag to; "": nothing yet
	others announcements
}

// failed is explained for an error that may come of an interrupt.
func failed(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return explained(err)
}

// publish adds targets to what the tag leads to, unless they are there, and what others have announced. again is how
// long to wait before it is called again; 0: never, because all is there, or because of the error.
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
		if err != nil || looking && !same || !looking && same && before.Digest == p.set { // what it has set itself is as it should be
			return err
		}
		return p.listSigned(ctx, &index, release, !same)
	}
	if p.set == "" { // what this publisher has overwritten isn't for others to look at
		if err := complete(nil, true); err != nil || index.equals(found) {
			return 0, err
		}
	}
	begun := p.now()
	references, recent, err := p.listed(ctx)
	if err == nil && !p.others.made {
		took := max(p.now().Sub(begun), mergePause)
		if err = p.announceAll(ctx, index, release, ours); err == nil && recent > 0 { // one of them may add what all have announced
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

// add adds targets that an index doesn't have.
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

// setTag has the tag lead to an index, if it still leads to the one that was read before, or to none. errTagMoved if it doesn't.
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

// has reports whether an index has a target, whoever made its manifest. Another archive for its platform is an error.
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

// platformOf is the platform of a target; zero if it has none.
func platformOf(d ocispec.Descriptor) getproviders.Platform {
	if d.Platform == nil {
		return getproviders.Platform{}
	}
	return getproviders.Platform{OS: d.Platform.OS, Arch: d.Platform.Architecture}
}
