package oci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/layout"
	remotes "github.com/tfdeps/tfdeps/internal/remote"
)

// typeSigned is the type of the manifest with a version's signed documents. The version's index lists it
// beside the platforms' manifests. OpenTofu ignores it.
const typeSigned = "application/vnd.tfdeps.signed-checksums"

// signed returns the descriptor of the version's signed documents, or nil.
func (index imageIndex) signed() *ocispec.Descriptor {
	for i, d := range index.Manifests {
		if d.ArtifactType == typeSigned && d.MediaType == ocispec.MediaTypeImageManifest {
			return &index.Manifests[i]
		}
	}
	return nil
}

// readSigned reads the manifest, and returns its files by name.
func readSigned(ctx context.Context, repo *remote.Repository, d ocispec.Descriptor) (map[string]ocispec.Descriptor, error) {
	manifest, err := readImage(ctx, repo, d, typeSigned)
	if err != nil {
		return nil, err
	}
	files := map[string]ocispec.Descriptor{}
	for _, layer := range manifest.Layers {
		files[layer.Annotations[ocispec.AnnotationTitle]] = layer
	}
	return files, nil
}

// readFile reads a file of at most max bytes, and verifies its digest. It returns nil if the file
// doesn't exist or is larger.
func readFile(ctx context.Context, repo *remote.Repository, files map[string]ocispec.Descriptor, name string, max int64) ([]byte, error) {
	d, ok := files[name]
	if !ok || d.Size > max || d.Size < 0 {
		return nil, nil
	}
	if err := d.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("%.100q has the digest %.100q: %w", name, d.Digest, err)
	}
	return counted(ctx, d, func() ([]byte, error) { return content.FetchAll(ctx, repo.Blobs(), d) })
}

// trust returns a Trust in which signed documents have precedence over the registry's digests. It reads the signature first; a
// failure of that means that there is no signature, and doesn't keep users from installing.
func (s *Source) trust(repo *remote.Repository, index imageIndex, pkg getproviders.Package) getproviders.Trust {
	d := index.signed()
	if d == nil {
		return pkg.Trust
	}
	pkg.Trust.LocalTrust = true
	p, v := pkg.Provider, pkg.Version
	return s.Signers.TrustIn(pkg, func(ctx context.Context, name string, max int64) ([]byte, error) {
		files, err := readSigned(ctx, repo, *d)
		var text []byte
		if err == nil {
			text, err = readFile(ctx, repo, files, name, max)
		}
		switch {
		case err == nil:
			return text, nil
		case name == layout.SignatureName(p, v) && ctx.Err() == nil:
			return nil, nil
		}
		return nil, s.failed(ctx, p, errors.New(explained(err).Error())) // a missing file is a failure, too: the manifest lists it
	})
}

// sign publishes the version's signed documents, and returns the descriptor. The files have the names of those in a mirror's
// tree as titles, by which other programs save them.
func (p *pushing) sign(ctx context.Context, release Release) (ocispec.Descriptor, error) {
	var layers []layer
	provider, version := release.Provider, release.Version
	for _, f := range []struct {
		mediaType, name string
		content         []byte
	}{
		{"application/json", layout.KeysName(provider, version), release.Signed.EncodeKeys()},
		{"text/plain", layout.ChecksumsName(provider, version), release.Signed.Sums},
		{"application/pgp-signature", layout.SignatureName(provider, version), release.Signed.Signature},
	} {
		described := ocispec.Descriptor{MediaType: f.mediaType, Digest: digest.FromBytes(f.content), Size: int64(len(f.content)), Annotations: map[string]string{ocispec.AnnotationTitle: f.name}}
		layers = append(layers, layer{Descriptor: described, content: bytes.NewReader(f.content)})
	}
	return p.image(ctx, typeSigned, "", layers...)
}

// listSigned lists signed documents in an index, if they are valid for all archives of the index: the release's, or else
// those that the index lists already. Invalid ones would keep users from installing an archive.
func (p *pushing) listSigned(ctx context.Context, index *imageIndex, release Release, added bool) error {
	listed := index.signed()
	if release.Signed == nil && (listed == nil || !added) {
		return nil
	}
	archives, err := allPublished(ctx, p.repo, *index)
	if err != nil {
		return err
	}
	isTrue := func(d *getproviders.SignedDocuments) bool {
		return d != nil && !slices.ContainsFunc(archives, func(t remotes.Release) bool { return !d.Covers(release.Provider, release.Version, t.Platform, t.ZH) })
	}
	present := p.readListed(ctx, listed, release)
	var lists *ocispec.Descriptor
	switch {
	case isTrue(release.Signed) && !bringsLess(*release.Signed, present):
		d, err := p.sign(ctx, release)
		if err != nil {
			return err
		}
		lists = &d
	case isTrue(present):
		lists = listed
	}
	index.Manifests = slices.DeleteFunc(slices.Clone(index.Manifests), func(d ocispec.Descriptor) bool { return d.ArtifactType == typeSigned })
	if lists != nil {
		index.Manifests = append(index.Manifests, *lists)
	}
	return nil
}

// bringsLess reports whether a release has the documents that are present, but without the keys: a source that knows
// the keys doesn't send them.
func bringsLess(brought getproviders.SignedDocuments, present *getproviders.SignedDocuments) bool {
	return present != nil && len(brought.Keys) == 0 &&
		bytes.Equal(brought.Sums, present.Sums) && bytes.Equal(brought.Signature, present.Signature)
}

// readListed reads the listed documents, without the keys. It returns nil if none are listed, or if
// they can't be read.
func (p *pushing) readListed(ctx context.Context, listed *ocispec.Descriptor, release Release) *getproviders.SignedDocuments {
	if listed == nil {
		return nil
	}
	files, err := readSigned(ctx, p.repo, *listed)
	if err != nil {
		return nil
	}
	sums, err := readFile(ctx, p.repo, files, layout.ChecksumsName(release.Provider, release.Version), manifestBytes)
	signature, missing := readFile(ctx, p.repo, files, layout.SignatureName(release.Provider, release.Version), manifestBytes)
	if err != nil || missing != nil || sums == nil || signature == nil {
		return nil
	}
	return &getproviders.SignedDocuments{Sums: sums, Signature: signature}
}

// allPublished returns the archives of an index.
func allPublished(ctx context.Context, repo *remote.Repository, index imageIndex) (all []remotes.Release, err error) {
	_, platforms, err := index.target(getproviders.Platform{})
	for _, plat := range platforms {
		if err != nil {
			return nil, err
		}
		var target *ocispec.Descriptor
		if target, _, err = index.target(plat); err == nil {
			var found remotes.Release
			found, err = published(ctx, repo, *target)
			all = append(all, found)
		}
	}
	return all, err
}
