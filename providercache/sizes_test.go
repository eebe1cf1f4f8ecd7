package providercache

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/receipt"
	"github.com/tfdeps/tfdeps/providercache/internal/receipttest"
	"github.com/tfdeps/tfdeps/providercache/internal/store"
)

// knowing is an Installer for linux_amd64 whose receipts tell how large archives were.
func knowing(t *testing.T, source getproviders.Source, sizes map[string]int64) *Installer {
	t.Helper()
	base := filepath.Join(t.TempDir(), "base")
	in := &Installer{
		Fetcher: &Fetcher{Source: source, StateDir: filepath.Join(base, "state"), Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}},
		Cache:   &store.Store{Dir: filepath.Join(base, "cache")}, Target: &store.Store{Dir: filepath.Join(base, "target")},
	}
	view := in.cacheView()
	if view.Own == nil {
		t.Skip("no receipts are kept here")
	}
	record := receipt.StatRecord{Entries: []receipt.StatEntry{{Name: "."}}}
	for name, bytes := range sizes {
		view.Own.Put("registry.terraform.io/acme/"+name, receipt.Provenance{H1: "h1:x", ArchiveBytes: bytes}.Receipt(record))
	}
	must.Succeed(t, view.Own.File.Save(t.Context()))
	return in
}

func TestInstaller_FetchesLargestFirstBySizesOfOtherVersions(t *testing.T) {
	in := knowing(t, nil, map[string]int64{
		"small/1.0.0/linux_amd64": 10, "large/1.0.0/linux_amd64": 1000, "large/1.1.0/linux_amd64": 0, // from a directory
		"large/1.2.0/windows_amd64": 5, "larger/1.0.0/linux_amd64": 1,
	})
	var tasks steps
	for _, p := range []string{"larger", "small", "large", "unknown"} {
		at := getproviders.HTTPArchive{URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/" + p}}
		s := getproviders.Selection{Provider: getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: p}, Version: getproviders.MustParseVersion("2.0.0")}
		tasks = append(tasks, &step{Request: fetch.Request{Selection: s, Package: getproviders.Package{Location: at}}})
	}
	file := filepath.Join(t.TempDir(), "archive.zip")
	must.Write(t, file, strings.Repeat("x", 100))
	for name, at := range map[string]getproviders.Location{"file": getproviders.LocalArchive(file), "missing": getproviders.LocalArchive("missing")} {
		tasks = append(tasks, &step{Request: fetch.Request{Selection: getproviders.Selection{Provider: getproviders.Provider{Type: name}}, Package: getproviders.Package{Location: at}}})
	}
	in.measure(tasks)
	var got []string
	for _, sorted := range largestFirst(tasks) {
		got = append(got, sorted.Provider.Type)
	}
	must.Equal(t, strings.Join(got, " "), "unknown large file small larger missing")
}

// registryURL is a Source that can say where packages come from, and has no other ability.
type registryURL string

func (s registryURL) Versions(context.Context, getproviders.Provider) (getproviders.Available, error) {
	return getproviders.Available{}, errors.New("versions were asked for")
}

func (s registryURL) Package(context.Context, getproviders.Provider, getproviders.Version, getproviders.Platform) (getproviders.Package, error) {
	return getproviders.Package{}, errors.New("a package was asked for")
}

func (s registryURL) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: "the registry", SourceURL: s.sourceURL}
}

func (s registryURL) sourceURL(context.Context, getproviders.Provider, getproviders.Version, getproviders.Platform) (string, error) {
	return string(s), nil
}

func TestPlan_SaysWhereFromAndHowLarge(t *testing.T) {
	t.Parallel()
	in := knowing(t, registryURL("https://registry.example.com/v1/"), map[string]int64{"widget/1.0.0/linux_amd64": 10, "widget/2.0.0/linux_amd64": 2000})
	planned := func(name, version string) *step {
		p := getproviders.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: name}
		return &step{Request: fetch.Request{Selection: getproviders.Selection{Provider: p, Version: getproviders.MustParseVersion(version)}}, todo: fetching}
	}
	fetches := in.plan(t.Context(), nil, steps{planned("widget", "1.0.0"), planned("widget", "2.1.0"), planned("other", "1.0.0")}, in.targetView()).Fetch
	for i, want := range []int64{10, 2000, 0} {
		f := fetches[i]
		must.Equal(t, f.Bytes, want)
		must.Equal(t, f.Source, "the registry")
		must.Equal(t, f.Location, "https://registry.example.com/v1/")
	}
}

func TestKnownPackages_AreWhatReceiptsTell(t *testing.T) {
	s := receipttest.New(t)
	s.Receipts.Put(receipttest.Name, receipt.Provenance{H1: "h1:widget=", Origin: "https://registry.example.com/v1/", ArchiveBytes: 77}.Receipt(receipttest.RecordOf(t, s.Dir)))
	must.Succeed(t, s.Receipts.File.Save(t.Context()))
	fetcher := func(arch string) *Fetcher {
		return &Fetcher{StateDir: s.State, Platform: getproviders.Platform{OS: "linux", Arch: arch}}
	}
	in := &Installer{Fetcher: fetcher("amd64"), Cache: &store.Store{Dir: s.Root, Shared: true}}
	widget := must.Get(getproviders.Terraform("1.15.9").ParseProvider("registry.example.com/acme/widget"))(t)
	want := getproviders.CachedPackage{
		Version: getproviders.MustParseVersion("1.0.0"), SourceURL: "https://registry.example.com/v1/", ArchiveBytes: 77, Present: true,
	}
	must.EqualSlices(t, in.KnownPackages(widget), []getproviders.CachedPackage{want})
	other := widget
	other.Type = "widg"
	must.Len(t, in.KnownPackages(other), 0)
	in.Fetcher = fetcher("arm64")
	must.Len(t, in.KnownPackages(widget), 0)
	in.Fetcher = fetcher("amd64")
	must.Succeed(t, os.RemoveAll(s.Dir))
	want.Present = false
	must.EqualSlices(t, in.KnownPackages(widget), []getproviders.CachedPackage{want}, "of a package that is gone")
}
