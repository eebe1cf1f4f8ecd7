package mirror

import (
	"context"
	"net/http"
	"net/url"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/remote"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/blob"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/transfer"
	"github.com/tfdeps/tfdeps/providercache/internal/vendoring"
)

type (
	// VendorOptions say where packages are vendored, and in which form.
	VendorOptions = vendoring.Options
	// VendorResult is what Vendor did, and the Locks that belong to it.
	VendorResult = vendoring.Result

	// Remote is where packages of a cache are pushed to and pulled from, by their hashes.
	Remote = remote.Remote
)

// Vendor makes a directory such as terraform.d/plugins hold the packages that a lock file needs on all its platforms. All
// packages are attempted; the error joins a *getproviders.Fault for each that failed.
func Vendor(ctx context.Context, f *providercache.Fetcher, opts VendorOptions, r providercache.LockRequest) (VendorResult, error) {
	return vendoring.Update(ctx, f, opts, r)
}

// CheckVendored says, without network, whether Vendor would have anything to do.
func CheckVendored(ctx context.Context, f *providercache.Fetcher, opts VendorOptions, r providercache.LockRequest) (providercache.Status, error) {
	return vendoring.Check(ctx, f, opts, r)
}

// InBucket is the Remote in a bucket.
func InBucket(bucket blob.Bucket) Remote { return transfer.InBucket(bucket) }

// OnWeb is the Remote that a web server has below base. It can only be pulled from.
func OnWeb(client *http.Client, base *url.URL) Remote { return transfer.OnWeb(client, base) }

// Push sends packages of the Installer's Cache to a Remote. The results are in the order of wanted, and the error joins those
// of all that failed.
func Push(ctx context.Context, in *providercache.Installer, to Remote, wanted []getproviders.PackageSpec) ([]event.Outcome, error) {
	return transfer.Push(ctx, in, to, wanted)
}

// Pull fetches packages into the Installer's Cache. The Source of its Fetcher is a RemoteSource, whose packages are pulled.
func Pull(ctx context.Context, in *providercache.Installer) ([]event.Outcome, error) {
	return transfer.Pull(ctx, in)
}

// RemoteSource is the Source of these packages of a Remote, for Pull.
func RemoteSource(from Remote, wanted []getproviders.PackageSpec) getproviders.Source {
	return &transfer.Source{Remote: from, Wanted: wanted}
}
