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

// Announcements keep updates of a tag from being lost. A registry sets a tag without any condition, so that a publisher
// may set it to an index that lacks what another one has added a moment before. Each publisher therefore announces what
// it adds before it sets the tag, adds what others have announced, and looks again after it has set the tag. The last
// one that sets the tag thus sees what all others have announced, and none of them has to wait for it.
//
// An announcement is an index with the manifests that are added. Where the registry lists referrers, it refers to the
// version; elsewhere it has a tag that is no version, so that OpenTofu passes over it. After an hour it doesn't count:
// what was taken out of a registry on purpose doesn't come back. After a minute its publisher isn't at work any more:
// what it adds counts then only as far as it is still in the registry, and in no place of what this publisher adds.
const (
	typeAnnouncement = "application/vnd.tfdeps.announcement"
	announcementTag  = "tfdeps-adding."
	announcementTime = "20060102T150405Z"
	announcementLife = time.Hour
	announcementWork = time.Minute // how long publishers may be at work after it

	// maxTag is how long a tag may be, and maxAnnouncements how many may be read.
	maxTag           = 128
	maxAnnouncements = 10_000
)

// announcements are those of one version, as a publisher sees them.
type announcements struct {
	byTags bool // the registry has no list of referrers
	asked  bool // byTags is known
	made   bool // this publisher's own is there
	read   map[string][]ocispec.Descriptor
	older  map[string]bool // the references of those whose publishers aren't at work any more
}

// announceAll makes known what this publisher adds to an index, and what is signed if that isn't there yet.
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

// announce makes known what this publisher adds.
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

// announcedAs is how the tags of announcements for the version begin.
func (p *pushing) announcedAs() string {
	tag := p.tag
	if len(announcementTag+tag+"."+announcementTime+".000000000000") > maxTag {
		sum := sha256.Sum256([]byte(tag))
		tag = hex.EncodeToString(sum[:])
	}
	return announcementTag + tag + "."
}

// subject is what announcements for the version refer to. It needn't be there.
func (p *pushing) subject() ocispec.Descriptor {
	text, _ := json.Marshal(ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, ArtifactType: typeAnnouncement, Manifests: []ocispec.Descriptor{},
		Annotations: map[string]string{ocispec.AnnotationVersion: p.tag},
	})
	return ocispec.Descriptor{MediaType: ocispec.MediaTypeImageIndex, Digest: digest.FromBytes(text), Size: int64(len(text))}
}

// announced is what references say that are announced for the version, in an order that all publishers have.
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

// remaining are those of descriptors that are still in the registry, but for the platforms of ours.
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

// announcementsAtOnce is how many announcements are read at once.
const announcementsAtOnce = 4

// listed are the references of announcements for the version that count. recent: how many publishers may be at work now.
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
	if isMissing(err) { // there is no tag yet
		return nil, 0, nil
	}
	return references, recent, err
}

// merge adds descriptors to an index for which it has nothing yet.
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
