package oci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/chunks"
)

// typePackage is the type of a manifest with the archive of one package for one platform, as [Client.PushPackage]
// publishes it. OpenTofu ignores it.
const typePackage = "application/vnd.tfdeps.package"

// ErrNoPackage says that a repository doesn't have the tag, or doesn't exist.
var ErrNoPackage = errors.New("there is no such package")

// OpenPackage opens the archive that PushPackage has published with a tag, at an offset as in getproviders.Archive.
// The error is ErrNoPackage if the repository has no such tag. The caller must verify the content.
func (c *Client) OpenPackage(ctx context.Context, r Repository, tag string, offset int64) (getproviders.OpenedArchive, error) {
	found, err := c.tagged(ctx, r, tag, typePackage, ErrNoPackage)
	if err != nil {
		return getproviders.OpenedArchive{}, err
	}
	return found.Open(ctx, offset)
}

// HasTag reports whether a repository has a tag. It returns false for a repository that doesn't
// exist.
func (c *Client) HasTag(ctx context.Context, r Repository, tag string) (bool, error) {
	repo, err := c.open(ctx, r)
	if err != nil {
		return false, err
	}
	_, err = repo.Manifests().Resolve(ctx, tag)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, explained(err)
}

// PushPackage publishes the archive of a package: first the archive, then its manifest with the tag, which it
// replaces. Errors say that the repository doesn't exist, or are the registry's.
func (c *Client) PushPackage(ctx context.Context, r Repository, tag string, content *io.SectionReader) error {
	repo, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	sum, size, err := chunks.SHA256(ctx, io.NewSectionReader(content, 0, content.Size()))
	if err != nil {
		return err
	}
	archive := ocispec.Descriptor{MediaType: typeArchive, Digest: digest.NewDigestFromBytes(digest.SHA256, sum[:]), Size: size}
	return c.withRepository(ctx, r, func() error {
		p := pushing{client: c, repo: repo, at: r, tag: tag}
		_, err := p.image(ctx, typePackage, tag, layer{Descriptor: archive, content: content})
		return failed(ctx, err)
	})
}

const typeModule = "application/vnd.opentofu.modulepkg"

// Module returns the package of a module as OpenTofu does: the zip archive of an image manifest, by a tag or by
// the manifest's digest; without both, the tag is "latest". The caller must verify the archive's checksum. The
// error is ErrNoModule if the repository doesn't have the manifest.
func (c *Client) Module(ctx context.Context, r Repository, tag, byDigest string) (getproviders.Archive, [sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	at, err := ParseRepository(r.String())
	if err != nil {
		return nil, sum, err
	}
	if byDigest != "" {
		if err := digest.Digest(byDigest).Validate(); err != nil {
			return nil, sum, fmt.Errorf("the digest %.100q: %w", byDigest, err)
		}
	}
	found, err := c.tagged(ctx, at, cmp.Or(byDigest, tag, "latest"), typeModule, ErrNoModule)
	if err != nil {
		return nil, sum, err
	}
	_, err = hex.Decode(sum[:], []byte(found.digest.Encoded()))
	return found, sum, err
}

// ErrNoModule says that a repository doesn't have the tag or manifest, or doesn't exist.
var ErrNoModule = errors.New("there is no such package of a module")

// tagged returns the archive of the image manifest with a type that a tag or a digest refers to. It returns missing if the
// repository doesn't have the reference.
func (c *Client) tagged(ctx context.Context, r Repository, reference, artifactType string, missing error) (*archive, error) {
	repo, err := c.open(ctx, r)
	if err != nil {
		return nil, err
	}
	found, err := repo.Manifests().Resolve(ctx, reference)
	if err == nil && found.MediaType != ocispec.MediaTypeImageManifest {
		err = fmt.Errorf("%s leads to the media type %.100q, and has to lead to an image manifest", reference, found.MediaType)
	}
	if err == nil {
		found, err = readLayer(ctx, repo, found, artifactType)
	}
	if isMissing(err) {
		return nil, fmt.Errorf("%w: %s has no %s", missing, r.url(), reference)
	}
	return &archive{repo: repo, at: r, digest: found.Digest, size: found.Size}, explained(err)
}
