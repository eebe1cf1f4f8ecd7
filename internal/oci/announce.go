package oci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/tfdeps/tfdeps/internal/par"
)

// Announcements keep concurrent updates of a tag from being lost. A registry can't set a tag conditionally, so a
// publisher may set it to an index without what another publisher added a moment before. Each publisher therefore
// announces its additions before it sets the tag, adds those that others have announced, and reads the tag again after
// it has set it. The last publisher that sets the tag thus sees the announcements of all others, and none has to wait
// for it.
//
// An announcement is an index with the added manifests. If the registry lists referrers, it refers to the version;
// otherwise it has a tag that is no version, which OpenTofu ignores. It expires after an hour, so that intentionally
// removed packages don't come back. After a minute its publisher isn't considered active any more: its additions then
// count only if the registry still has them, and if this publisher adds no package for the same platform.
const (
	typeAnnouncement = "application/vnd.tfdeps.announcement"
	announcementTag  = "tfdeps-adding."
	announcementTime = "20060102T150405Z"
	announcementLife = time.Hour
	announcementWork = time.Minute // publishers are considered active for this long

	// maxTag is the longest tag, and maxAnnouncements how many announcements may be read.
	maxTag           = 128
	maxAnnouncements = 10_000
)

// announcements are those of one version, as one publisher sees them.
type announcements struct {
	byTags bool // the registry doesn't list referrers
	asked  bool // byTags is known
	made   bool // this publisher has announced its own additions
	read   map[string][]ocispec.Descriptor
	older  map[string]bool // references whose publishers aren't active any more
}

// announceAll announces this publisher's additions to an index, and the signed documents if the index
// doesn't have any.
func (p *pushing) announceAll(ctx context.Context, index imageIndex, release Release, ours []ocispec.Descriptor) error {
	adds := slices.Clone(ours)
	signed := index.signed()
	if signed == nil && release.Signed != nil {
		described, err := p.sign(ctx, release)
		if err != nil {
			return err
		}
		signed = &described
	}
	if signed != nil {
		adds = append(adds, *signed)
	}
	return p.announce(ctx, adds)
}

// announce announces additions.
func (p *pushing) announce(ctx context.Context, adds []ocispec.Descriptor) error {
	at := p.now().UTC()
	index := ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, ArtifactType: typeAnnouncement, Manifests: adds,
		Annotations: map[string]string{ocispec.AnnotationCreated: at.Format(time.RFC3339)},
	}
	tag := ""
	if p.others.byTags {
		sum := sha256.New()
		for _, each := range adds {
			sum.Write([]byte(each.Digest))
		}
		tag = p.announcedAs() + at.Format(announcementTime) + "." + hex.EncodeToString(sum.Sum(nil)[:6])
	} else {
		subject := p.subject()
		index.Subject = &subject
	}
	made, err := p.manifest(ctx, ocispec.MediaTypeImageIndex, index, tag)
	if err == nil {
		p.others.made = true
		p.others.read[cmp.Or(tag, made.Digest.String())] = adds
	}
	return err
}

// announcedAs returns the prefix of the tags of the version's announcements.
func (p *pushing) announcedAs() string {
	tag := p.tag
	if len(announcementTag+tag+"."+announcementTime+".000000000000") > maxTag {
		sum := sha256.Sum256([]byte(tag))
		tag = hex.EncodeToString(sum[:])
	}
	return announcementTag + tag + "."
}

// subject returns what the version's announcements refer to. It needn't exist.
func (p *pushing) subject() ocispec.Descriptor {
	text, _ := json.Marshal(ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, ArtifactType: typeAnnouncement, Manifests: []ocispec.Descriptor{},
		Annotations: map[string]string{ocispec.AnnotationVersion: p.tag},
	})
	return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageIndex, Digest: digest.FromBytes(text), Size: int64(len(text))}
}

// announced returns the announced manifests of references, in the same order for all publishers.
func (p *pushing) announced(ctx context.Context, references []string, ours []ocispec.Descriptor) (all []ocispec.Descriptor, err error) {
	slices.Sort(references)
	found, errs := par.Map(ctx, announcementsAtOnce, references, func(ctx context.Context, reference string) ([]ocispec.Descriptor, error) {
		if known, ok := p.others.read[reference]; ok {
			return known, nil
		}
		_, text, err := readReference(ctx, p.repo, reference)
		if isMissing(err) { // it was removed meanwhile
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var index ocispec.Index
		if json.Unmarshal(text, &index) != nil || index.ArtifactType != typeAnnouncement {
			return nil, nil
		}
		if p.others.older[reference] {
			return p.remaining(ctx, index.Manifests, ours)
		}
		return index.Manifests, nil
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for i, reference := range references {
		p.others.read[reference] = found[i]
		all = append(all, found[i]...)
	}
	return all, nil
}

// remaining returns the descriptors that the registry still has, without those for the platforms of
// ours.
func (p *pushing) remaining(ctx context.Context, announced, ours []ocispec.Descriptor) (all []ocispec.Descriptor, err error) {
	for _, d := range announced {
		if slices.ContainsFunc(ours, func(o ocispec.Descriptor) bool { return platformOf(o) == platformOf(d) }) {
			continue
		}
		there, err := p.repo.Manifests().Exists(ctx, d)
		if err != nil {
			return nil, err
		}
		if there {
			all = append(all, d)
		}
	}
	return all, nil
}

// announcementsAtOnce is how many announcements are read concurrently.
const announcementsAtOnce = 4

// listed returns the references of the version's announcements that haven't expired. recent is how many publishers may
// be active.
func (p *pushing) listed(ctx context.Context) (references []string, recent int, err error) {
	add := func(reference string, at time.Time) error {
		if age := p.now().Sub(at).Abs(); age <= announcementLife {
			references = append(references, reference)
			if age <= announcementWork {
				recent++
			} else {
				p.others.older[reference] = true
			}
		}
		if len(references) > maxAnnouncements {
			return errors.New("there are too many announcements")
		}
		return nil
	}
	if !p.others.byTags {
		err := p.repo.Referrers(ctx, p.subject(), typeAnnouncement, func(found []ocispec.Descriptor) error {
			for _, d := range found {
				if at, err := time.Parse(time.RFC3339, d.Annotations[ocispec.AnnotationCreated]); err == nil {
					if err := add(d.Digest.String(), at); err != nil {
						return err
					}
				}
			}
			return nil
		})
		answer, answered := errors.AsType[*errcode.ErrorResponse](err)
		if !errors.Is(err, errdef.ErrUnsupported) && !(answered && !isTemporary(answer) && !p.others.asked) {
			p.others.asked = err == nil
			return references, recent, err
		}
		p.others.byTags = true
	}
	prefix := p.announcedAs()
	err = p.repo.Tags(ctx, "", func(tags []string) error {
		for _, tag := range tags {
			rest, ok := strings.CutPrefix(tag, prefix)
			when, _, _ := strings.Cut(rest, ".")
			if at, err := time.Parse(announcementTime, when); ok && err == nil {
				if err := add(tag, at); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if isMissing(err) { // the repository has no tag yet
		return nil, 0, nil
	}
	return references, recent, err
}

// merge adds descriptors to an index that it has no counterpart of.
func (index *imageIndex) merge(adds []ocispec.Descriptor) {
	for _, d := range adds {
		if d.MediaType != ocispec.MediaTypeImageManifest {
			continue
		}
		switch d.ArtifactType {
		case typeSigned:
			if index.signed() == nil {
				index.Manifests = append(index.Manifests, d)
			}
		case typeTarget:
			plat := platformOf(d)
			if there, _, err := index.target(plat); err == nil && there == nil && plat.Validate() == nil {
				index.Manifests = append(index.Manifests, d)
			}
		}
	}
}

// equals reports whether two indexes have the same manifests.
func (index imageIndex) equals(other []ocispec.Descriptor) bool {
	sorted := func(all []ocispec.Descriptor) string {
		text, _ := json.Marshal(slices.SortedFunc(slices.Values(all), func(a, b ocispec.Descriptor) int { return cmp.Compare(a.Digest, b.Digest) }))
		return string(text)
	}
	return sorted(index.Manifests) == sorted(other)
}
