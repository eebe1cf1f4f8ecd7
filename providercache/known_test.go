package providercache

import (
	"os"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

func TestKnownPackages_AreWhatReceiptsTell(t *testing.T) {
	s := receipttest.New(t)
	s.Receipts.Put(receipttest.Name, receipt.Provenance{H1: "h1:widget=", Origin: "https://registry.example.com/v1/", ArchiveBytes: 77}.Receipt(receipttest.RecordOf(t, s.Dir)))
	must.Succeed(t, s.Receipts.File.Save(t.Context()))
	in := &Installer{
		Fetcher: &Fetcher{StateDir: s.State, Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}},
		Cache:   &store.Store{Dir: s.Root, Shared: true},
	}
	widget := must.Get(getproviders.Terraform("1.15.9").ParseProvider("registry.example.com/acme/widget"))(t)
	want := getproviders.CachedPackage{
		Version: getproviders.MustParseVersion("1.0.0"), SourceURL: "https://registry.example.com/v1/", ArchiveBytes: 77, Present: true,
	}
	got := in.KnownPackages(widget)
	must.Len(t, got, 1)
	must.Equal(t, got[0], want)
	other := widget
	other.Type = "widg"
	must.Len(t, in.KnownPackages(other), 0)
	in.Fetcher.Platform.Arch = "arm64"
	in.Fetcher = &Fetcher{Source: in.Fetcher.Source, Platform: in.Fetcher.Platform, StateDir: in.Fetcher.StateDir}
	must.Len(t, in.KnownPackages(widget), 0)
	in.Fetcher.Platform.Arch = "amd64"
	in.Fetcher = &Fetcher{Source: in.Fetcher.Source, Platform: in.Fetcher.Platform, StateDir: in.Fetcher.StateDir}
	must.Succeed(t, os.RemoveAll(s.Dir))
	want.Present = false
	if got := in.KnownPackages(widget); len(got) != 1 || got[0] != want {
		t.Errorf("of a package that is gone there is %+v, want %+v", got, want)
	}
}
