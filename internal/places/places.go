// Package places opens the locations that users name by an address: buckets, mirrors, OCI registries and module packages,
// with the user's credentials. The command line and providercache/setup use it.
package places

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/buckets"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/gcs"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/oci"
	"github.com/tfdeps/tfdeps/internal/s3"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// Hosts holds the network settings and the credentials for requests to hosts.
type Hosts struct {
	cliconfig.Network
	User    cliconfig.User
	Signers getproviders.Signers // the trusted signers of packages in mirrors
	Logins  *oci.Logins          // for OCI registries; nil means none
}

// IsURL reports whether an argument is a URL rather than a directory's path.
func IsURL(given string) bool { return strings.Contains(given, "://") }

// OCIForm is the form of an OCI registry's URL, with a repository for each provider.
const OCIForm = ociScheme + "HOST/PATH/${namespace}/${type}"

// Redacted returns a location without user, password, query and fragment, which may be secrets.
func Redacted(location string) string {
	if IsOCI(location) { // url.URL would escape its ${namespace}
		address := location[len(ociScheme):]
		address, _, _ = strings.Cut(address[strings.LastIndex(address, "@")+1:], "?")
		return ociScheme + address
	}
	if u, err := url.Parse(location); err == nil && u.Host != "" {
		u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
		return u.String()
	}
	if IsURL(location) {
		return UnreadableURL
	}

	isPath := !strings.Contains(location, ":") || filepath.IsAbs(location)
	if isPath {
		return location
	}
	return hosts.RedactAddress(location) // such as http:/USER:PASSWORD@HOST, with a slash too few
}

// Same reports whether two locations are the same mirror: a directory, or a URL whatever its options are, but for the
// service that a bucket's endpoint names.
func Same(a, b string) bool {
	if IsURL(a) != IsURL(b) {
		return false
	}
	if IsURL(a) {
		return mirrorKey(a) == mirrorKey(b)
	}

	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// mirrorKey returns what tells the mirror at a URL from others: the URL without user, options and slashes at its end, and the
// endpoint of a bucket.
func mirrorKey(location string) string {
	place := strings.TrimRight(Redacted(location), "/")
	scheme, rest, _ := strings.Cut(place, "://")
	host, path, _ := strings.Cut(rest, "/")
	endpoint := ""
	if u, err := url.Parse(location); err == nil {
		endpoint = u.Query().Get("endpoint")
	}
	return fmt.Sprintf("%s://%s/%s %s", strings.ToLower(scheme), strings.ToLower(host), path, strings.TrimRight(endpoint, "/"))
}

// UnreadableURL replaces a URL that can't be parsed, of which any part may be a secret.
const UnreadableURL = "of a URL that can't be read"

// directory returns a mirror's URL with a slash at the end of its path, as relative references need
// it.
func directory(location string) string {
	if u, err := url.Parse(location); err == nil && !strings.HasSuffix(u.Path, "/") {
		return u.JoinPath("/").String()
	}
	return location
}

// Bucket opens the bucket of a URL. others are further forms of addresses that the error names.
func (h Hosts) Bucket(ctx context.Context, address string, others ...string) (blob.Bucket, error) {
	kinds := buckets.Openers{"s3": s3.Open, "gs": gcs.Opener{Client: h.Archives, Environ: h.User.Environ}.Open}
	if scheme, _, _ := strings.Cut(address, "://"); kinds[strings.ToLower(scheme)] == nil {
		if slices.Contains([]string{"azblob", "azurerm", "az", "abfs", "abfss"}, strings.ToLower(scheme)) {
			return nil, errors.New("the storage of Azure isn't read or written: use its container registry, whose URL is oci://NAME.azurecr.io/PATH")
		}
		forms := append([]string{"s3://BUCKET/PREFIX", "gs://BUCKET/PREFIX"}, others...)
		return nil, fmt.Errorf("it has to be %s or %s", strings.Join(forms[:len(forms)-1], ", "), forms[len(forms)-1])
	}
	return kinds.Open(ctx, address)
}

// Mirror returns the source for the mirror at a location, and its bucket, if any, which the caller closes. It makes no request yet, but may
// look for a bucket's credentials.
func (h Hosts) Mirror(ctx context.Context, single cliconfig.SourceOptions, location string) (source getproviders.Source, bucket blob.Bucket, err error) {
	scheme, _, isURL := strings.Cut(location, "://")
	switch {
	case !isURL:
		return single.FilesystemMirror(location), nil, nil
	case scheme == "https" || scheme == "http":
		source, err = single.NetworkMirror(directory(location)) // the network mirror is offline by itself
		return source, nil, err
	case IsOCI(location):
		find, invalid := repositoriesAt(location)
		source, err = &oci.Source{Client: h.OCI(), Repository: find, Signers: h.Signers}, invalid
	default:
		if bucket, err = h.Bucket(ctx, location, OCIForm, "https://HOST/PATH/", "a directory"); err != nil {
			return nil, nil, err
		}
		inBucket, invalid := mirror.Source(bucket)
		if invalid != nil {
			return nil, bucket, invalid
		}
		inBucket.Signers, source = h.Signers, inBucket
	}
	if source = getproviders.Memoize(source); h.OfflineBy != "" {
		source = getproviders.Offline(source, h.OfflineBy, single.Cached)
	}
	return source, bucket, err
}

// Modules returns a fetcher of module packages. It keeps them in store; "" means nowhere. The caller closes it.
func (h Hosts) Modules(product getproviders.Product, store string) *fetch.Fetcher {
	f := &fetch.Fetcher{Client: h.Archives, Credentials: h.Credentials, Store: store, Environ: h.User.Environ, Offline: h.OfflineBy != ""}
	if dialect.Of(product).Understands("oci") {
		f.OCI = modulesIn(h.OCI())
	}
	return f
}
