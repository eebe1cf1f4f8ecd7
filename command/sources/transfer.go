package sources

import (
	"context"
	"errors"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// OpenRemote opens what packages of the cache are pushed to and pulled from: the URL of a bucket, a repository of an
// OCI registry or a web server, or a directory. createRepository is that of [CreateRepository]. Nothing is asked yet,
// but the credentials of a bucket may be looked for. end is to be called when all is done.
func (net Network) OpenRemote(m *cli.Meta, location, createRepository string) (remote mirror.Remote, end func(), invalid *problem.Problem) {
	remote, end, err := net.openRemote(m, location, createRepository)
	if err != nil {
		where := "in " + places.Redacted(location)
		if places.Redacted(location) == places.UnreadableURL {
			where = "there"
		}
		return nil, func() {}, problem.Errorf("bucket", "Invalid URL", "Packages can't be kept %s: %v.", where, err)
	}
	return remote, end, nil
}

func (net Network) openRemote(m *cli.Meta, location, createRepository string) (mirror.Remote, func(), error) {
	scheme, rest, isURL := strings.Cut(location, "://")
	switch scheme = strings.ToLower(scheme); {
	case !isURL:
		dir, err := filepath.Abs(location)
		return mirror.InBucket(blob.NewDirectory(dir)), func() {}, err
	case scheme == "oci":
		at, err := oci.ParseRepository(rest)
		switch {
		case strings.ContainsAny(rest, "@?#"): // the other error would repeat a password
			err = errors.New("it has to be oci://HOST/PATH, without user, query and fragment")
		case err != nil && strings.Contains(rest, "${"):
			err = errors.New("one repository has all packages of a cache, so that its URL is oci://HOST/PATH, without variables")
		}
		client := net.OCI()
		client.CreateRepository = CreateRepository(m, createRepository)
		return ociPackages{client, at}, func() {}, err
	case scheme == "https":
		base, err := url.Parse(location)
		if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
			return nil, nil, errors.New("it has to be https://HOST/PATH, without user, query and fragment")
		}
		return mirror.OnWeb(net.Archives, base), func() {}, nil
	}
	bucket, err := net.Bucket(m.Context, location, "oci://HOST/PATH", "https://HOST/PATH (for cache pull)", "a directory")
	if err != nil {
		return nil, nil, err
	}
	return mirror.InBucket(bucket), func() { _ = bucket.Close() }, nil
}

// ociPackages are packages in one repository of an OCI registry, by their tags.
type ociPackages struct {
	client *oci.Client
	at     oci.Repository
}

// At implements remote.Remote.
func (r ociPackages) At(n remote.Name) (remote.Archive, error) {
	tag, err := n.Tag()
	return ociPackage{r, tag}, err
}

// String implements remote.Remote.
func (r ociPackages) String() string { return "oci://" + r.at.String() }

// ociPackage is one of them.
type ociPackage struct {
	in  ociPackages
	tag string
}

// Open implements remote.Archive.
func (p ociPackage) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	opened, err := p.in.client.OpenPackage(ctx, p.in.at, p.tag, offset)
	if errors.Is(err, oci.ErrNoPackage) {
		err = remote.ErrAbsent
	}
	return opened, err
}

// Exists implements remote.Archive.
func (p ociPackage) Exists(ctx context.Context) (bool, error) {
	return p.in.client.HasTag(ctx, p.in.at, p.tag)
}

// Put implements remote.Archive.
func (p ociPackage) Put(ctx context.Context, content *io.SectionReader) error {
	return p.in.client.PushPackage(ctx, p.in.at, p.tag, content)
}

// String is its URL.
func (p ociPackage) String() string { return p.in.String() + ":" + p.tag }
