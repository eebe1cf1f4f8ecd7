package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/hosts"
	remotes "github.com/tfdeps/tfdeps/internal/remote"
)

// Source installs from OCI registries, as OpenTofu does. The archive's digest is trusted only to tell that the archive
// is the manifest's. The publisher's signed documents, if [Client.Push] has published them, count as in other mirrors.
//
// Differences from OpenTofu: a missing version may come from another source, and the hashes that [Client.Push] has
// written become ListedHashes, so that lock files for other platforms need no download if such hashes are trusted.
//
// A Source caches nothing; see getproviders.Memoize. Many goroutines may use it.
type Source struct {
	Client *Client
	// Repository returns the repository with the packages of a provider. An error ends the query.
	Repository func(p getproviders.Provider) (Repository, error)
	// Signers says whose signatures count. The zero value means HashiCorp's.
	Signers getproviders.Signers
}

var _ getproviders.Source = (*Source)(nil)

// Limits of a list of tags. maxTags is more than any provider's versions. Pages may be empty, so their number has its
// own limit.
const (
	maxTags     = 100_000
	maxTagPages = 1000
)

// tagBytes is the approximate memory of a listed tag and its version, in bytes.
const tagBytes = 400

// Versions implements getproviders.Source: it returns all tags that are versions. Errors match
// getproviders.ErrProviderNotFound or getproviders.ErrUnreachable.
func (s *Source) Versions(ctx context.Context, p getproviders.Provider) (getproviders.Available, error) {
	repo, err := s.open(ctx, p)
	if err != nil {
		return getproviders.Available{}, err
	}
	var all []getproviders.Version
	seen := 0
	err = repo.Tags(ctx, "", func(tags []string) error {
		if seen += len(tags); seen > maxTags {
			return fmt.Errorf("the list of tags has more than %d", maxTags)
		}
		if err := hosts.Count(ctx, tagBytes*int64(len(tags))); err != nil {
			return err
		}
		for _, tag := range tags {
			v, err := getproviders.ParseVersion(strings.ReplaceAll(tag, "_", "+"))
			if err == nil && Tag(v) == tag {
				all = append(all, v)
			}
		}
		return nil
	})
	if err != nil {
		return getproviders.Available{}, s.failed(ctx, p, err)
	}
	slices.SortFunc(all, getproviders.Version.Compare)
	return getproviders.Available{Versions: all}, nil
}

// Package implements getproviders.Source. Errors are those of Versions, and match getproviders.ErrVersionNotFound or
// getproviders.ErrPlatformMissing, too.
func (s *Source) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	if err := plat.Validate(); err != nil {
		return getproviders.Package{}, err
	}
	repo, index, err := s.index(ctx, p, v)
	if err != nil {
		return getproviders.Package{}, err
	}
	target, platforms, err := index.target(plat)
	if err == nil && target == nil {
		return getproviders.Package{}, getproviders.Subject{Provider: p, Version: v, Platform: plat, Source: s.name(p), Platforms: platforms}.Missing()
	}
	var found remotes.Release
	if err == nil {
		found, err = published(ctx, repo, *target)
	}
	if err != nil {
		return getproviders.Package{}, s.failed(ctx, p, err)
	}
	trust := getproviders.AnyHash{found.ZH}.Recorded()
	if found.H1.Scheme() == hashing.H1 {
		trust.ListedHashes = append(slices.Clone(trust.ListedHashes), found.H1)
	}
	pkg := getproviders.Package{
		Provider: p, Version: v, Platform: plat, Source: s.name(p), SourceURL: repositoryOf(found.From).url(), Trust: trust, Location: found.From,
	}
	pkg.Trust = s.trust(repo, index, pkg)
	return pkg, nil
}

func (s *Source) platforms(ctx context.Context, p getproviders.Provider, v getproviders.Version) ([]getproviders.Platform, error) {
	_, index, err := s.index(ctx, p, v)
	if err != nil {
		return nil, err
	}
	_, platforms, err := index.target(getproviders.Platform{})
	if err != nil {
		return nil, s.failed(ctx, p, err)
	}
	return platforms, nil
}

func (s *Source) sourceURL(ctx context.Context, p getproviders.Provider, v getproviders.Version, _ getproviders.Platform) (string, error) {
	available, err := s.Versions(ctx, p)
	if err != nil {
		return "", err
	}
	if !slices.Contains(available.Versions, v) {
		return "", getproviders.Subject{Source: s.name(p), Provider: p, Version: v}.Missing()
	}
	at, err := s.Repository(p)
	return at.url(), err
}

// Describe implements getproviders.Source. The SourceURL is the repository's.
func (s *Source) Describe(p getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: s.name(p), SourceURL: s.sourceURL, Platforms: s.platforms, Owns: func(_ context.Context, p getproviders.Provider, sourceURL string) bool {
		at, err := s.Repository(p)
		return err == nil && at.url() == sourceURL
	}}
}

func (s *Source) name(p getproviders.Provider) string {
	at, err := s.Repository(p)
	if err != nil {
		return "OCI registry"
	}
	return "OCI repository " + at.String()
}

func (s *Source) open(ctx context.Context, p getproviders.Provider) (*remote.Repository, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	at, err := s.Repository(p)
	if err != nil {
		return nil, p.QueryFailed(kind, err)
	}
	return s.Client.open(ctx, at)
}

const kind = "OCI registry"

// failed returns the error of a failed query.
func (s *Source) failed(ctx context.Context, p getproviders.Provider, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isMissing(err):
		return getproviders.Subject{Source: s.name(p), Provider: p}.Missing()
	}
	return p.QueryFailed(kind, explained(err))
}

// index reads the image index of a version.
func (s *Source) index(ctx context.Context, p getproviders.Provider, v getproviders.Version) (*remote.Repository, imageIndex, error) {
	if err := v.Validate(); err != nil {
		return nil, imageIndex{}, err
	}
	repo, err := s.open(ctx, p)
	if err != nil {
		return nil, imageIndex{}, err
	}
	index, _, err := readIndex(ctx, repo, Tag(v))
	if isMissing(err) && ctx.Err() == nil {
		return nil, imageIndex{}, getproviders.Subject{Source: s.name(p), Provider: p, Version: v}.Missing()
	}
	if err != nil {
		return nil, imageIndex{}, s.failed(ctx, p, err)
	}
	return repo, index, nil
}

// imageIndex is the index of a version.
type imageIndex struct{ ocispec.Index }

// readIndex reads the index of a tag.
func readIndex(ctx context.Context, repo *remote.Repository, tag string) (index imageIndex, found ocispec.Descriptor, err error) {
	found, text, err := readReference(ctx, repo, tag)
	switch {
	case found.Digest == "":
		return index, found, err
	case found.MediaType != ocispec.MediaTypeImageIndex:
		return index, found, fmt.Errorf("the tag %s leads to the media type %.100q, and that of a provider's version to an image index", tag, found.MediaType)
	case found.Size > manifestBytes:
		return index, found, fmt.Errorf("the image index of the tag %s has %d bytes, and may have %d", tag, found.Size, manifestBytes)
	case err == nil:
		err = json.Unmarshal(text, &index)
	}
	if err == nil && (index.MediaType != ocispec.MediaTypeImageIndex || index.ArtifactType != typeProvider) {
		err = fmt.Errorf("it has the media type %.100q and the artifact type %.100q, and has to have %s and %s",
			index.MediaType, index.ArtifactType, ocispec.MediaTypeImageIndex, typeProvider)
	}
	if err != nil {
		return imageIndex{}, found, fmt.Errorf("the image index of the tag %s: %w", tag, err)
	}
	return index, found, nil
}

// target returns the descriptor for a platform, or nil; and all platforms.
func (index imageIndex) target(plat getproviders.Platform) (target *ocispec.Descriptor, platforms []getproviders.Platform, err error) {
	for i, d := range index.Manifests {
		if d.ArtifactType != typeTarget {
			continue
		}
		if d.MediaType != ocispec.MediaTypeImageManifest || d.Platform == nil {
			return nil, nil, errors.New("the image index has a target without a platform, or that isn't an image manifest")
		}
		each := platformOf(d)
		if d.Platform.OSVersion != "" || each.Validate() != nil {
			continue
		}
		platforms = append(platforms, each)
		if each != plat {
			continue
		}
		if target != nil {
			return nil, nil, fmt.Errorf("the image index has several targets for %s", plat)
		}
		target = &index.Manifests[i]
	}
	slices.SortFunc(platforms, getproviders.Platform.Compare)
	return target, slices.Compact(platforms), nil
}

// readImage reads an image manifest of a type.
func readImage(ctx context.Context, repo *remote.Repository, d ocispec.Descriptor, artifactType string) (manifest ocispec.Manifest, err error) {
	text, err := readManifest(ctx, repo, d)
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err == nil && (manifest.MediaType != ocispec.MediaTypeImageManifest || manifest.ArtifactType != artifactType) {
		err = fmt.Errorf("it has the media type %.100q and the artifact type %.100q", manifest.MediaType, manifest.ArtifactType)
	}
	if err != nil {
		if isMissing(err) { // not a missing version: the index lists the manifest
			err = fmt.Errorf("%s", err.Error())
		}
		err = fmt.Errorf("the manifest %s: %w", d.Digest, err)
	}
	return manifest, err
}

// readLayer reads an image manifest of a type, and returns its archive.
func readLayer(ctx context.Context, repo *remote.Repository, target ocispec.Descriptor, artifactType string) (layer ocispec.Descriptor, err error) {
	manifest, err := readImage(ctx, repo, target, artifactType)
	if err != nil {
		return layer, err
	}
	archives := slices.DeleteFunc(manifest.Layers, func(d ocispec.Descriptor) bool { return d.MediaType != typeArchive })
	if len(archives) != 1 {
		return layer, fmt.Errorf("the manifest %s has %d layers of the type %s, and has to have one", target.Digest, len(archives), typeArchive)
	}
	layer = archives[0]
	if layer.Digest.Validate() != nil || layer.Digest.Algorithm() != "sha256" || layer.Size <= 0 {
		return layer, fmt.Errorf("the manifest %s has a layer with the digest %.100q, which is not a SHA-256, or without a size", target.Digest, layer.Digest)
	}
	return layer, nil
}
