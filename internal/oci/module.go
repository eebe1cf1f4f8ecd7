package oci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/tfdeps/tfdeps/getproviders"
)

const typeModule = "application/vnd.opentofu.modulepkg"

// Module finds the package of a module as OpenTofu does: the zip archive of an image manifest, by a tag or by the
// digest of the manifest; of neither, the tag is "latest". Whoever reads the archive has to compare it with the
// checksum. The error of one that isn't there is ErrNoModule.
func (c *Client) Module(ctx context.Context, r Repository, tag, byDigest string) (getproviders.Archive, [sha256.Size]byte, error) {
	var sum [sha256.Size]byte
	at, err := ParseRepository(r.String())
	if err != nil {
		return nil, sum, err
	}
	repo, err := c.open(ctx, at)
	if err != nil {
		return nil, sum, err
	}
	reference := cmp.Or(byDigest, tag, "latest")
	if byDigest != "" {
		if err := digest.Digest(byDigest).Validate(); err != nil {
			return nil, sum, fmt.Errorf("the digest %.100q: %w", byDigest, err)
		}
	}
	layer, err := readTagged(ctx, repo, reference, typeModule)
	if isMissing(err) {
		return nil, sum, fmt.Errorf("%w: %s has no %s", ErrNoModule, at.url(), reference)
	}
	if err != nil {
		return nil, sum, explained(err)
	}
	if _, err := hex.Decode(sum[:], []byte(layer.Digest.Encoded())); err != nil {
		return nil, sum, err
	}
	return &archive{repo: repo, at: at, digest: layer.Digest, size: layer.Size}, sum, nil
}

// ErrNoModule says that a repository has no such tag or manifest, or doesn't exist.
var ErrNoModule = errors.New("there is no such package of a module")

// readTagged reads the image manifest of a type that a tag or a digest leads to, and returns its archive. isMissing
// says of the error whether there is none.
func readTagged(ctx context.Context, repo *remote.Repository, reference, artifactType string) (layer ocispec.Descriptor, err error) {
	found, err := repo.Manifests().Resolve(ctx, reference)
	if err != nil {
		return layer, err
	}
	if found.MediaType != ocispec.MediaTypeImageManifest {
		return layer, fmt.Errorf("%s leads to the media type %.100q, and has to lead to an image manifest", reference, found.MediaType)
	}
	return readLayer(ctx, repo, found, artifactType)
}
