package providercache

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

func TestSizesAreRememberedFromOtherVersions(t *testing.T) {
	plat := getproviders.Platform{OS: "linux", Arch: "amd64"}
	base := filepath.Join(t.TempDir(), "base")
	in := &Installer{
		Fetcher: &fetcher.Fetcher{StateDir: filepath.Join(base, "state"), Platform: plat},
		Cache:   &store.Store{Dir: filepath.Join(base, "cache")}, Target: &store.Store{Dir: filepath.Join(base, "target")},
	}
	shelf := in.cacheView()
	if shelf.Own == nil {
		t.Skip("no receipts are kept here")
	}
	name := func(provider, version, platform string) string {
		return "registry.terraform.io/acme/" + provider + "/" + version + "/" + platform
	}
	put := func(name string, bytes int64) {
		record := receipt.StatRecord{Entries: []receipt.StatEntry{{Name: "."}}}
		shelf.Own.Put(name, receipt.Receipt{H1: "h1:x", ArchiveBytes: bytes, Record: record})
	}
	put(name("small", "1.0.0", "linux_amd64"), 10)
	put(name("large", "1.0.0", "linux_amd64"), 1000)
	put(name("large", "1.1.0", "linux_amd64"), 0) // from a directory
	put(name("large", "1.2.0", "windows_amd64"), 5)
	put(name("larger", "1.0.0", "linux_amd64"), 1)
	if err := shelf.Own.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	var tasks []fetcher.Request
	for _, p := range []string{"larger", "small", "large", "unknown"} {
		at := getproviders.HTTPArchive{URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/" + p}}
		s := resolve.Selection{Provider: getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: p}, Version: getproviders.MustParseVersion("2.0.0")}
		tasks = append(tasks, fetcher.Request{Selection: s, Package: getproviders.Package{Location: at}})
	}
	var got []string
	for _, sorted := range largestFirst(in.withExpectedSizes(tasks)) {
		got = append(got, sorted.Provider.Type)
	}
	if want := "unknown large small larger"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
