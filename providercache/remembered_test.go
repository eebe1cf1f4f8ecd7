package providercache

import (
	"os"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache/internal/cachetest"
)

func TestKnownPackages_AreWhatReceiptsTell(t *testing.T) {
	s := shelve(t)
	s.receipts.put(packageName, receipt{H1: "h1:widget=", Origin: "https://registry.example.com/v1/", ArchiveBytes: 77, Record: recordOf(t, s.dir)})
	cachetest.Must(t, s.receipts.save(t.Context()))
	in := &Installer{
		Fetcher: &Fetcher{StateDir: s.state, Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}},
		Cache:   &Store{Dir: s.root, Shared: true},
	}
	widget, err := getproviders.Terraform("1.15.9").ParseProvider("registry.example.com/acme/widget")
	cachetest.Must(t, err)
	want := getproviders.CachedPackage{
		Version: getproviders.MustParseVersion("1.0.0"), SourceURL: "https://registry.example.com/v1/", ArchiveBytes: 77, Present: true,
	}
	if got := in.KnownPackages(widget); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	other := widget
	other.Type = "widg"
	if got := in.KnownPackages(other); len(got) != 0 {
		t.Errorf("of another provider there is %+v", got)
	}
	in.Fetcher.Platform.Arch = "arm64"
	if got := in.KnownPackages(widget); len(got) != 0 {
		t.Errorf("for another platform there is %+v", got)
	}
	in.Fetcher.Platform.Arch = "amd64"
	cachetest.Must(t, os.RemoveAll(s.dir))
	want.Present = false
	if got := in.KnownPackages(widget); len(got) != 1 || got[0] != want {
		t.Errorf("of a package that is gone there is %+v, want %+v", got, want)
	}
}
