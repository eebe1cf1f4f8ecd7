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

	"github.com/tfdeps/tfdeps/getproviders"
)

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
