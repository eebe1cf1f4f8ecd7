package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tfdeps/tfdeps/internal/hashing"
	remotes "github.com/tfdeps/tfdeps/internal/remote"
)

// target publishes an archive and its manifest, and returns the manifest's descriptor.
func (p *pushing) target(ctx context.Context, t remotes.Release) (ocispec.Descriptor, error) {
	zh, ok := strings.CutPrefix(string(t.ZH), hashing.ZH+":")
	if !ok || t.Archive == nil || t.Platform.Validate() != nil {
		return ocispec.Descriptor{}, errors.New("a package to be published needs a platform, an archive and the zh of it")
	}
	archive := layer{ocispec.Descriptor{MediaType: typeArchive, Digest: digest.NewDigestFromEncoded(digest.SHA256, zh), Size: t.Archive.Size()}, t.Archive, repositoryOf(t.From)}
	blob := sentBlob{p.at.Registry, archive.Digest}
	if known, ok := p.client.sent.Known(blob); ok && archive.from.Registry != p.at.Registry {
		archive.from = known
	}
	described, err := p.image(ctx, typeTarget, "", archive)
	if err == nil {
		_, _ = p.client.sent.Do(ctx, blob, func(context.Context) (Repository, error) { return p.at, nil })
	}
	described.Platform = &ocispec.Platform{OS: t.Platform.OS, Architecture: t.Platform.Arch}
	described.Annotations = map[string]string{annotationZH: string(t.ZH)}
	if t.H1 != "" {
		described.Annotations[annotationH1] = string(t.H1)
	}
	return described, err
}

// layer is a blob of a manifest, which another repository may have, too.
type layer struct {
	ocispec.Descriptor
	content io.ReaderAt
	from    Repository
}

// image publishes layers, and a manifest with only these, with a tag unless it is "", and returns the manifest's
// descriptor.
func (p *pushing) image(ctx context.Context, artifactType, tag string, layers ...layer) (ocispec.Descriptor, error) {
	config := layer{Descriptor: ocispec.DescriptorEmptyJSON, content: bytes.NewReader([]byte("{}"))} // some registries refuse an empty blob, or a custom type
	config.Data = nil
	manifest := ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifactType, Config: config.Descriptor,
	}
	for _, each := range append([]layer{config}, layers...) {
		if err := p.blob(ctx, each); err != nil {
			return ocispec.Descriptor{}, err
		}
	}
	for _, each := range layers {
		manifest.Layers = append(manifest.Layers, each.Descriptor)
	}
	described, err := p.manifest(ctx, manifest.MediaType, manifest, tag)
	described.ArtifactType = artifactType
	return described, err
}

// blob publishes a blob, unless the repository has it: by mounting it from another repository of the registry, if
// possible. If a request is repeated after a lost answer, an upload may have the bytes twice: after a wrong digest,
// blob starts a new upload.
func (p *pushing) blob(ctx context.Context, l layer) error {
	const uploads = 3
	var err error
	for range uploads {
		var there bool
		if there, err = p.repo.Blobs().Exists(ctx, l.Descriptor); err != nil || there {
			return err
		}
		text := io.NewSectionReader(l.content, 0, l.Size)
		if l.from.Registry == p.at.Registry && l.from != p.at {
			err = p.repo.Mount(ctx, l.Descriptor, l.from.Name, func() (io.ReadCloser, error) { return io.NopCloser(text), nil })
			if l.from = (Repository{}); err == nil || ctx.Err() != nil {
				return err
			}
			text = io.NewSectionReader(l.content, 0, l.Size) // the login may not allow access to the other repository
		}
		if err = p.repo.Blobs().Push(ctx, l.Descriptor, text); !isBrokenUpload(err) {
			return err
		}
	}
	return err
}

// isBrokenUpload reports whether a registry refuses an upload, so that another upload may succeed.
func isBrokenUpload(err error) bool {
	answer, ok := errors.AsType[*errcode.ErrorResponse](err)
	return ok && slices.ContainsFunc(answer.Errors, func(e errcode.Error) bool {
		return slices.Contains([]string{errcode.ErrorCodeDigestInvalid, errcode.ErrorCodeSizeInvalid, errcode.ErrorCodeBlobUploadInvalid, errcode.ErrorCodeBlobUploadUnknown}, e.Code)
	})
}

// manifest publishes a manifest, with a tag unless it is "", and returns its descriptor. Without a tag it isn't sent
// if the registry has its digest.
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
