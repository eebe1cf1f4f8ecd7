package sources

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/gcs"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/s3"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// mirrorVariable names mirrors, with commas between them, that are asked before everything else.
const mirrorVariable = "TFDEPS_MIRROR"

// MirrorFlag is the option -mirror, whose values [Options.OpenMirrors] takes.
func MirrorFlag(given *[]string) cli.Flag {
	return cli.Option("mirror=URL", cli.Func(func(value string) error {
		for each := range strings.SplitSeq(value, ",") {
			if each = strings.TrimSpace(each); each == "" {
				return errors.New("the URL of a mirror, or a directory, has to follow")
			}
			if !slices.Contains(*given, each) {
				*given = append(*given, each)
			}
		}
		return nil
	}),
		"Take providers from this mirror, and what it doesn't have from where they come from without this option: a bucket such as s3://BUCKET/PREFIX or gs://BUCKET/PREFIX, an OCI registry at oci://HOST/PATH/${namespace}/${type}, a network mirror at https://, or a directory in the layout of a filesystem mirror. May be given more than once, or with commas: the first one that has a package serves it.").
		Or(mirrorVariable, "which mirrors are asked first")
}

// Mirrors are the mirrors of -mirror. The zero value has no mirrors.
type Mirrors struct {
	Opened  []Mirror // in the order of the options
	buckets []blob.Bucket
}

// Mirror is one of them.
type Mirror struct {
	Location string // as it was given, without what may be a secret
	Source   getproviders.Source
	remote   bool // it can't be asked without a network
}

// OpenMirrors opens the mirrors of -mirror, in their order; nothing is asked of any of them yet, but the credentials of
// buckets may be looked for. They are to be closed.
func (o Options) OpenMirrors(m *cli.Meta, given []string) (*Mirrors, problem.List) {
	all := &Mirrors{}
	var problems problem.List
	for _, location := range given {
		if err := all.open(m, o, location); err != nil {
			problems = append(problems, problem.Errorf("invalid_option", "Invalid mirror", "The mirror %s can't be used: %v.",
				redacted(location), err))
		}
	}
	return all, problems
}

// redacted is a location without what may be a secret.
func redacted(location string) string {
	if address, ok := strings.CutPrefix(location, ociScheme); ok { // whose ${namespace} isn't to be escaped
		address, _, _ = strings.Cut(address[strings.LastIndex(address, "@")+1:], "?")
		return ociScheme + address
	}
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
		return u.String()
	}
	if IsURL(location) {
		return unreadableURL
	}
	return location
}

// unreadableURL is what redacted says of what may be a secret anywhere.
const unreadableURL = "of a URL that can't be read"

// directory is a mirror's URL with the slash at the end of its path that relative references need.
func directory(location string) string {
	if u, err := url.Parse(location); err == nil && !strings.HasSuffix(u.Path, "/") {
		return u.JoinPath("/").String()
	}
	return location
}

func (all *Mirrors) open(m *cli.Meta, o Options, location string) error {
	scheme, _, isURL := strings.Cut(location, "://")
	single := o.Single(m)
	opened := Mirror{Location: redacted(location)}
	switch {
	case !isURL:
		opened.Source = single.FilesystemMirror(location)
	case scheme == "https" || scheme == "http":
		source, err := single.NetworkMirror(directory(location)) // it is offline by itself
		if err != nil {
			return err
		}
		opened.Source = source
	case IsOCI(location):
		find, err := repositoriesAt(location)
		if err != nil {
			return err
		}
		opened.Source, opened.remote = getproviders.Memoize(&oci.Source{Client: o.Net.ociClient(), Repository: find, Signers: o.Net.Signers}), true
	default:
		bucket, err := o.Net.openBucket(m.Context, m, location, []string{OCIForm, "https://HOST/PATH/", "a directory"})
		if err != nil {
			return err
		}
		all.buckets = append(all.buckets, bucket)
		source, err := mirror.Source(bucket)
		if err != nil {
			return err
		}
		source.Signers = o.Net.Signers
		opened.Source, opened.remote = getproviders.Memoize(source), true
	}
	all.Opened = append(all.Opened, opened)
	return nil
}

// sources are the mirrors as the options allow them to be asked.
func (all *Mirrors) sources(o Options) (asked []getproviders.Source) {
	if all == nil {
		return nil
	}
	for _, each := range all.Opened {
		source := each.Source
		if each.remote && o.Net.OfflineBy != "" {
			source = getproviders.OfflineSource{Source: source, Cached: o.Cached, By: o.Net.OfflineBy}
		}
		asked = append(asked, source)
	}
	return asked
}

// Close closes connections. Nothing is asked of the mirrors afterwards.
func (all *Mirrors) Close() {
	if all == nil {
		return
	}
	for _, bucket := range all.buckets {
		_ = bucket.Close()
	}
}

// IsURL reports whether an argument is a URL, and not the path of a directory.
func IsURL(given string) bool { return strings.Contains(given, "://") }

// OpenBucket opens the bucket of a URL. The bucket is to be closed. Others are what else the caller takes in its place,
// such as ociForm.
func (net Network) OpenBucket(ctx context.Context, m *cli.Meta, address string, others ...string) (blob.Bucket, *problem.Problem) {
	bucket, err := net.openBucket(ctx, m, address, append(others, "a directory"))
	if err != nil {
		return nil, problem.Errorf("bucket", "Invalid URL of a bucket", "%s can't be used: %v.", sentenceStart(redacted(address)), err)
	}
	return bucket, nil
}

// OCIForm is how URLs of OCI registries look that have a repository for each provider.
const OCIForm = ociScheme + "HOST/PATH/${namespace}/${type}"

// sentenceStart is a redacted location as a sentence begins with it.
func sentenceStart(location string) string {
	if location == unreadableURL {
		return "A URL that can't be read"
	}
	return location
}

// openBucket opens the bucket of a URL. Others are what else there may be in its place.
func (net Network) openBucket(ctx context.Context, m *cli.Meta, address string, others []string) (blob.Bucket, error) {
	kinds := net.bucketKinds(m)
	if scheme, _, _ := strings.Cut(address, "://"); kinds[strings.ToLower(scheme)] == nil {
		if slices.Contains([]string{"azblob", "azurerm", "az", "abfs", "abfss"}, strings.ToLower(scheme)) {
			return nil, errors.New("the storage of Azure isn't read or written: use its container registry, whose URL is oci://NAME.azurecr.io/PATH")
		}
		forms := append([]string{"s3://BUCKET/PREFIX", "gs://BUCKET/PREFIX"}, others...)
		return nil, fmt.Errorf("it has to be %s or %s", strings.Join(forms[:len(forms)-1], ", "), forms[len(forms)-1])
	}
	bucket, err := kinds.Open(ctx, address)
	if err != nil && errors.Is(err, blob.ErrURL) { // the headline says that already
		err = errors.New(strings.TrimPrefix(err.Error(), blob.ErrURL.Error()+": "))
	}
	return bucket, err
}

// bucketKinds are the buckets that there are. A file URL is a directory.
func (net Network) bucketKinds(m *cli.Meta) blob.Openers {
	return blob.Openers{"s3": s3.Open, "gs": gcs.Opener{Client: net.Archives, Environ: m.Env}.Open}
}
