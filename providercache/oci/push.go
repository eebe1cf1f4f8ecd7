package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// Annotations of the descriptors of platforms, which OpenTofu passes over.
const (
	annotationZH = "io.github.tfdeps.provider.zh"
	annotationH1 = "io.github.tfdeps.provider.h1"
)

// Target is the package of a platform, to be published or published already.
type Target struct {
	Platform getproviders.Platform
	ZH       getproviders.Hash // of the archive
	H1       getproviders.Hash // of its files; "": not known
	// Archive is the archive to be published.
	Archive *io.SectionReader
}

// RepositoryMissingError says that a registry has no such repository, and doesn't make one by itself.
type RepositoryMissingError struct {
	Repository Repository
	Err        error // what the registry said
}

// Error implements error.
func (e *RepositoryMissingError) Error() string {
	return fmt.Sprintf("there is no repository %s, and the registry %s doesn't make repositories by itself: create %s there first, and then try again (%v)",
		e.Repository, e.Repository.Registry, e.Repository.Name, e.Err)
}

// Unwrap returns the cause.
func (e *RepositoryMissingError) Unwrap() error { return e.Err }

// OtherArchiveError says that a repository has another archive for a platform of a version. An archive is never replaced.
type OtherArchiveError struct {
	Repository Repository
	Tag        string
	Platform   getproviders.Platform
}

// Error implements error.
func (e *OtherArchiveError) Error() string {
	return fmt.Sprintf("%s:%s has another archive for %s: it was published with other bytes, and is not replaced", e.Repository, e.Tag, e.Platform)
}

// Pushed returns what is published of a version, without the archives; nothing if there is no such version or repository. What another program
// published has no H1, and a ZH.
func (c *Client) Pushed(ctx context.Context, r Repository, v getproviders.Version) ([]Target, error) {
	repo, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	index, _, err := readIndex(ctx, repo, Tag(v))
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, explained(err)
	}
	_, platforms, err := index.target(getproviders.Platform{})
	if err != nil {
		return nil, err
	}
	var all []Target
	for _, plat := range platforms {
		found, err := published(ctx, repo, index, plat)
		if err != nil {
			return nil, explained(err)
		}
		all = append(all, found)
	}
	return all, nil
}

// published is what an index has for a platform.
func published(ctx context.Context, repo *remote.Repository, index imageIndex, plat getproviders.Platform) (Target, error) {
	target, _, err := index.target(plat)
	if err != nil || target == nil {
		return Target{}, err
	}
	layer, err := readTarget(ctx, repo, *target)
	if err != nil {
		return Target{}, err
	}
	found := Target{Platform: plat, ZH: getproviders.Hash(getproviders.SchemeZH + ":" + layer.Digest.Encoded())}
	if h1, err := getproviders.ParseHash(target.Annotations[annotationH1]); err == nil && target.Annotations[annotationZH] == string(found.ZH) {
		found.H1 = h1
	}
	return found, nil
}

// Push publishes packages of a version. What the repository has isn't sent. Blobs come first, then the manifests of platforms, the index, and the tag
// last, so that what a tag leads to is there at every moment.
//
// Several processes may publish to one repository: the tag is read right before it is set and after that, and what another one has published meanwhile is
// taken over. A registry has no condition for that, so an update can be lost between the two; the next Push makes it again. Errors are
// *[RepositoryMissingError], *[OtherArchiveError], and what the registry says.
func (c *Client) Push(ctx context.Context, r Repository, v getproviders.Version, targets []Target) error {
	repo, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	p := pushing{repo: repo, at: r, tag: Tag(v)}
	var ours []ocispec.Descriptor
	for _, each := range targets {
		described, err := p.target(ctx, each)
		if err != nil {
			return p.failed(ctx, err)
		}
		ours = append(ours, described)
	}
	for tries := range tagTries {
		if err = p.publish(ctx, ours); err == nil || !errors.Is(err, errTagMoved) {
			break
		}
		if stopped := par.Pause(ctx, tagPause<<tries); stopped != nil {
			return stopped
		}
	}
	return p.failed(ctx, err)
}

const (
	tagTries = 6
	tagPause = 100 * time.Millisecond
)

// errTagMoved says that another process has set the tag at the same time.
var errTagMoved = errors.New("others publish the same version all the time")

// pushing is one Push.
type pushing struct {
	repo *remote.Repository
	at   Repository
	tag  string
}

func (p *pushing) failed(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isMissing(err):
		return &RepositoryMissingError{p.at, explained(err)}
	}
	return explained(err)
}

// target publishes an archive and its manifest, which it describes.
func (p *pushing) target(ctx context.Context, t Target) (ocispec.Descriptor, error) {
	zh, ok := strings.CutPrefix(string(t.ZH), getproviders.SchemeZH+":")
	if !ok || t.Archive == nil || t.Platform.Validate() != nil {
		return ocispec.Descriptor{}, errors.New("a package to be published needs a platform, an archive and the zh of it")
	}
	layer := ocispec.Descriptor{MediaType: typeArchive, Digest: digest.NewDigestFromEncoded(digest.SHA256, zh), Size: t.Archive.Size()}
	config := ocispec.DescriptorEmptyJSON // some registries refuse an empty blob, or a type of their own
	config.Data = nil
	for _, blob := range []struct {
		ocispec.Descriptor
		content io.ReaderAt
	}{{config, bytes.NewReader([]byte("{}"))}, {layer, t.Archive}} {
		there, err := p.repo.Blobs().Exists(ctx, blob.Descriptor)
		if err == nil && !there {
			err = p.repo.Blobs().Push(ctx, blob.Descriptor, io.NewSectionReader(blob.content, 0, blob.Size))
		}
		if err != nil {
			return ocispec.Descriptor{}, err
		}
	}
	manifest := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: typeTarget,
		Config: config, Layers: []ocispec.Descriptor{layer},
	}
	described, err := p.manifest(ctx, manifest.MediaType, manifest, "")
	described.ArtifactType = typeTarget
	described.Platform = &ocispec.Platform{OS: t.Platform.OS, Architecture: t.Platform.Arch}
	described.Annotations = map[string]string{annotationZH: string(t.ZH)}
	if t.H1 != "" {
		described.Annotations[annotationH1] = string(t.H1)
	}
	return described, err
}

// manifest publishes a manifest, under a tag if there is one, and describes it. It is one that is there already by its digest alone.
func (p *pushing) manifest(ctx context.Context, mediaType string, content any, tag string) (ocispec.Descriptor, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	if tag != "" {
		return d, p.repo.Manifests().PushReference(ctx, d, bytes.NewReader(text), tag)
	}
	if there, err := p.repo.Manifests().Exists(ctx, d); err != nil || there {
		return d, err
	}
	return d, p.repo.Manifests().Push(ctx, d, bytes.NewReader(text))
}

// publish adds targets to what the tag leads to.
func (p *pushing) publish(ctx context.Context, ours []ocispec.Descriptor) error {
	index, before, err := readIndex(ctx, p.repo, p.tag)
	if err != nil && !isMissing(err) {
		return err
	}
	if err != nil {
		before = ocispec.Descriptor{}
		index.Index = ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, ArtifactType: typeProvider}
	}
	added := false
	for _, each := range ours {
		has, err := p.has(ctx, index, each)
		if err != nil {
			return err
		}
		if !has {
			added, index.Manifests = true, append(index.Manifests, each)
		}
	}
	if !added {
		return nil
	}
	slices.SortStableFunc(index.Manifests, func(a, b ocispec.Descriptor) int { return strings.Compare(platformOf(a), platformOf(b)) })
	if _, err := p.manifest(ctx, ocispec.MediaTypeImageIndex, index.Index, ""); err != nil {
		return err
	}
	now, err := p.repo.Manifests().Resolve(ctx, p.tag)
	if err != nil && !errors.Is(err, errdef.ErrNotFound) {
		return err
	}
	if now.Digest != before.Digest {
		return errTagMoved
	}
	set, err := p.manifest(ctx, ocispec.MediaTypeImageIndex, index.Index, p.tag)
	if err != nil {
		return err
	}
	if now, err = p.repo.Manifests().Resolve(ctx, p.tag); err == nil && now.Digest != set.Digest {
		return errTagMoved // perhaps without what this has added
	}
	return err
}

// has reports whether an index has a target, whoever made its manifest. Another archive for its platform is an error.
func (p *pushing) has(ctx context.Context, index imageIndex, ours ocispec.Descriptor) (bool, error) {
	plat := getproviders.Platform{OS: ours.Platform.OS, Arch: ours.Platform.Architecture}
	there, _, err := index.target(plat)
	if err != nil || there == nil || there.Digest == ours.Digest {
		return there != nil, err
	}
	layer, err := readTarget(ctx, p.repo, *there)
	if err == nil && getproviders.SchemeZH+":"+layer.Digest.Encoded() != ours.Annotations[annotationZH] {
		err = &OtherArchiveError{p.at, p.tag, plat}
	}
	return true, err
}

// platformOf is what targets are sorted by.
func platformOf(d ocispec.Descriptor) string {
	if d.Platform == nil {
		return ""
	}
	return d.Platform.OS + "_" + d.Platform.Architecture
}
