package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/places"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/internal/subprocess"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// mirrorVariable names mirrors, with commas between them.
const mirrorVariable = "TFDEPS_MIRROR"

// MirrorFlag is the option -mirror, whose values [Session.OpenMirrors] takes.
func MirrorFlag(given *[]string) cli.Flag {
	return cli.Option("mirror=URL", cli.Func(func(value string) error {
		for each := range strings.SplitSeq(value, ",") {
			if each = strings.TrimSpace(each); each == "" {
				return errors.New("it has to be the URL of a mirror, or a directory")
			}
			if !slices.Contains(*given, each) {
				*given = append(*given, each)
			}
		}
		return nil
	}),
		"Take providers only from this mirror", "It is a bucket such as s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, an OCI registry at oci://HOST/PATH/$${namespace}/$${type}, a network mirror at https://, or a directory in the layout of a filesystem mirror. May be given more than once, or with commas: mirrors are asked in that order.").
		Or(mirrorVariable, "which mirrors providers come from")
}

// Mirror is a mirror of -mirror.
type Mirror struct {
	Location string // as it was given, but redacted
	Source   getproviders.Source
}

// OpenBucket opens the bucket of a URL. The caller has to close it. others are further forms of locations that the caller accepts,
// for the error.
func (net Network) OpenBucket(ctx context.Context, address string, others ...string) (blob.Bucket, *problem.Problem) {
	bucket, err := net.Bucket(ctx, address, append(others, "a directory")...)
	if err != nil {
		return nil, problem.Errorf("bucket", "Invalid URL of a bucket", "%s can't be used: %v.", sentenceStart(places.Redacted(address)), err)
	}
	return bucket, nil
}

// OpenRegistry returns a publisher of packages in the repositories of a URL. create creates missing repositories, and may be
// nil. OpenRegistry sends no request.
func (net Network) OpenRegistry(address string, create func(context.Context, oci.Repository) error) (remote.Releases, *problem.Problem) {
	releases, err := net.Releases(address, create)
	if err != nil {
		return nil, problem.Error("bucket", "Invalid URL of a registry", problem.Sentence(err))
	}
	return releases, nil
}

// sentenceStart returns a redacted location as the beginning of a sentence.
func sentenceStart(location string) string {
	if location == places.UnreadableURL {
		return "A URL that can't be read"
	}
	return location
}

// openRemote also returns the bucket, or nil if the location is none.
func (net Network) openRemote(m *cli.Meta, location, createRepository string) (mirror.Remote, blob.Bucket, error) {
	scheme, rest, isURL := strings.Cut(location, "://")
	switch scheme = strings.ToLower(scheme); {
	case !isURL:
		dir, err := filepath.Abs(location)
		return mirror.InBucket(blob.NewDirectory(dir)), nil, err
	case scheme == "oci":
		at, err := oci.ParseRepository(rest)
		switch {
		case strings.ContainsAny(rest, "@?#"): // the other error would repeat a password
			err = errors.New("it has to be oci://HOST/PATH, without user, query and fragment")
		case err != nil && strings.Contains(rest, "${"):
			err = errors.New("one repository has all packages of a cache, so its URL is oci://HOST/PATH, without variables")
		}
		client := net.OCI()
		client.CreateRepository = CreateRepository(m, createRepository)
		return ociPackages{client, at}, nil, err
	case scheme == "https":
		base, err := url.Parse(location)
		if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
			return nil, nil, errors.New("it has to be https://HOST/PATH, without user, query and fragment")
		}
		return mirror.OnWeb(net.Archives, base), nil, nil
	}
	bucket, err := net.Bucket(m.Context, location, "oci://HOST/PATH", "https://HOST/PATH (for cache pull)", "a directory")
	if err != nil {
		return nil, nil, err
	}
	return mirror.InBucket(bucket), bucket, nil
}

// ociPackages are the packages in one repository of an OCI registry, each with its tag.
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

// ociPackage is one package of them.
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

// String returns the package's URL.
func (p ociPackage) String() string { return p.in.String() + ":" + p.tag }

// CreateRepositoryFlag is the option -create-repository, whose value [CreateRepository] takes.
func CreateRepositoryFlag(given *string) cli.Flag {
	return cli.Option("create-repository=CMD", cli.Func(func(value string) error {
		if strings.TrimSpace(value) == "" {
			return errors.New("it has to be a command")
		}
		*given = value
		return nil
	}),
		"If the OCI registry lacks a repository, run this command, such as \"aws ecr create-repository --repository-name\", and try once more", "The repository's name is its last argument. Spaces separate its words; no shell reads them. It runs in the root directory, with OCI_REGISTRY and OCI_REPOSITORY in its environment.")
}

// CheckCreateRepository refuses the option -create-repository if the location is no OCI registry.
func CheckCreateRepository(m *cli.Meta, log *problem.Log, given, location string) {
	m.Refuse(log, given != "" && !places.IsOCI(location), "The -create-repository flag needs oci://",
		"It says how repositories of an OCI registry are created, and the packages go to another place.", "-create-repository")
}

// hookOutput is how many bytes of the command's output an error quotes.
const hookOutput = 1000

// CreateRepository returns a function that creates repositories by a command, or nil if the command is "". Several calls may run at once.
func CreateRepository(m *cli.Meta, command string) func(context.Context, oci.Repository) error {
	words := strings.Fields(command)
	if len(words) == 0 {
		return nil
	}
	return func(ctx context.Context, r oci.Repository) error {
		said := &subprocess.Tail{Limit: hookOutput}
		env := m.Env.With("OCI_REGISTRY="+r.Registry, "OCI_REPOSITORY="+r.Name)
		cmd, err := subprocess.Command(ctx, env, "", words[0], append(words[1:len(words):len(words)], r.Name)...)
		if err == nil {
			cmd.Stdout, cmd.Stderr = said, said
			err = cmd.Run()
		}
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			return nil
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(said.Kept), ""))
		if said.Over {
			text = "..." + text
		}
		if text != "" {
			text = ": " + text
		}
		return fmt.Errorf("the command %q failed: %w%s", command, err, text)
	}
}
