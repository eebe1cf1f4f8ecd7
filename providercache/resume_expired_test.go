package providercache_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// beforeArchives is a transport that calls a function before each request for an archive, with its number.
type beforeArchives struct {
	http.RoundTripper
	call func(n int)
	n    int
}

func (b *beforeArchives) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, ".zip") {
		b.n++
		b.call(b.n)
	}
	return b.RoundTripper.RoundTrip(req)
}

// TestResume_AURLThatHasExpired: an archive whose signed URL has expired before it was asked for,
// or when the rest of it is, is had by the URL that the registry names then. The registry is asked
// once more for each refusal.
func TestResume_AURLThatHasExpired(t *testing.T) {
	t.Parallel()
	const cut = 100_000
	for name, c := range map[string]struct {
		expires func(n int) bool // before the nth request for an archive
		cut     int              // how many requests are cut off after so many bytes, if they have them
		refused bool             // the archive can't be had
		asked   string           // parts of the archive
		named   int              // how often the registry was asked for the package
	}{
		"before the first byte": {func(n int) bool { return n == 1 }, 0, false, "all all", 2},
		"before the rest":       {func(n int) bool { return n == 2 }, 1, false, "all 100000- 100000-", 2},
		"before both":           {func(n int) bool { return n%2 == 1 }, 2, false, "all all 100000- 100000-", 3},
		"always":                {func(int) bool { return true }, 0, true, "all all", 2},
		"not at all":            {func(int) bool { return false }, 0, true, "all", 2},
	} {
		for _, hashed := range []bool{false, true} { // while it arrives, and not installed
			registry, in, archive := newBreakable(t)
			registry.RenewURLs()
			in.Fetcher.Source = getproviders.Memoize(registry.Source())
			in.Fetcher.Client = impatient(t, &beforeArchives{RoundTripper: registry.Client().Transport, call: func(n int) {
				if c.expires(n) {
					registry.RenewURLs()
				}
			}})
			if c.refused && c.asked == "all" {
				registry.Break("archive", fault{Status: http.StatusForbidden})
			}
			if c.cut > 0 {
				registry.Break("archive", fault{CutAfter: cut, Times: c.cut})
			}
			var hashes []getproviders.Hash
			var err error
			if widget := registry.Provider("acme", "widget"); hashed {
				var all map[getproviders.Platform][]getproviders.Hash
				all, err = in.Fetcher.Hashes(t.Context(), widget, v1, onLinux)
				hashes = all[linux]
			} else {
				var got providercache.Installed
				got, err = in.Ensure(t.Context(), widget, getproviders.Constraints{})
				hashes = got.Hashes
			}
			if errors.Is(err, getproviders.ErrUnauthorized) != c.refused || c.refused == slices.Contains(hashes, zhOfBytes(archive)) {
				t.Errorf("%s: %v, %v", name, hashes, err)
			}
			must.Equal(t, ranges(registry.Server), c.asked, name, hashed)
			must.Equal(t, registry.Requests("package"), c.named, name, hashed)
		}
	}
}

// TestFetch_DocumentsWhoseURLsHaveExpired: the URLs of signed checksums may expire like that of the
// archive. The registry is asked once more, and no further.
func TestFetch_DocumentsWhoseURLsHaveExpired(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"sums", "signature"} {
		for times, fails := range map[int]bool{1: false, 0: true} {
			registry, in, _ := newBreakable(t)
			registry.Break(kind, fault{Status: http.StatusForbidden, Times: times})
			in.Fetcher.Source = getproviders.Memoize(registry.Source())
			_, err := in.Ensure(t.Context(), registry.Provider("acme", "widget"), getproviders.Constraints{})
			if fails != errors.Is(err, getproviders.ErrUnauthorized) || !fails && err != nil || registry.Requests("package") != 2 {
				t.Errorf("%s is refused %d times: %v, asked for the package %d times", kind, times, err, registry.Requests("package"))
			}
		}
	}
}
