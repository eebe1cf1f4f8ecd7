package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// vendored is a registry and a directory that is to be filled from it.
type vendored struct {
	tb testing.TB
	*providercache.Installer
	registry *providertest.Registry
	opts     mirror.VendorOptions
	request  lockhashes.Request
}

func newVendoring(t *testing.T) *vendored {
	t.Parallel()
	return vendoringOf(t)
}

func vendoringOf(t *testing.T) *vendored {
	t.Helper()
	m := mirroringOf(t)
	return &vendored{t, m.Installer, m.registry, mirror.VendorOptions{Dir: filepath.Join(t.TempDir(), "terraform.d", "plugins")}, lockhashes.Request{
		Requirements: require(widgetAddress, "1.0.0"), Platforms: []getproviders.Platform{otherPlatforms[0], linux},
	}}
}

// run vendors, and keeps the locks for the next run.
func (v *vendored) run() (mirror.VendorResult, error) {
	v.tb.Helper()
	result, err := mirror.Vendor(v.tb.Context(), v.Fetcher, v.opts, v.request)
	if err == nil {
		v.request.Locks = result.Locks
		status, failed := mirror.CheckVendored(v.tb.Context(), v.Fetcher, v.opts, v.request)
		if failed != nil || !status.UpToDate() {
			v.tb.Errorf("afterwards: %v, %v", status, failed)
		}
	}
	return result, err
}

// fill is run, which succeeds.
func (v *vendored) fill() mirror.VendorResult {
	v.tb.Helper()
	return must.Get(v.run())(v.tb)
}

// path is where a package is.
func (v *vendored) path(name, number string, plat getproviders.Platform) string {
	p := provider(registryHost + "/acme/" + name)
	if v.opts.Unpacked {
		return filepath.Join(v.opts.Dir, layout.UnpackedPath(p, version(number), plat))
	}
	return filepath.Join(v.opts.Dir, registryHost, "acme", name, p.PackedName(version(number), plat))
}

func (v *vendored) codes() (codes []string) {
	v.tb.Helper()
	asked := v.registry.Requests("")
	status := must.Get(mirror.CheckVendored(v.tb.Context(), v.Fetcher, v.opts, v.request))(v.tb)
	for _, reason := range status.Reasons {
		codes = append(codes, reason.Code)
	}
	must.Equal(v.tb, v.registry.Requests(""), asked)
	return codes
}

func ExampleVendor() {
	source, client, widget, dir, closeAll := exampleSource()
	defer closeAll()
	in := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Client: client, Platform: linux},
	}
	result, err := mirror.Vendor(context.Background(), in.Fetcher, mirror.VendorOptions{Dir: dir}, lockhashes.Request{
		Requirements: getproviders.Requirements{widget: nil},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, _ := result.Locks.Provider(widget)
	fmt.Println(filepath.Base(result.Packages[0].Path), lock.Version)
	// Output: terraform-provider-widget_1.1.0_linux_amd64.zip 1.1.0
}

// eachWay runs a test with archives and with directories.
func eachWay(t *testing.T, test func(t *testing.T, v *vendored)) {
	for _, unpacked := range []bool{false, true} {
		t.Run(fmt.Sprintf("unpacked=%v", unpacked), func(t *testing.T) {
			v := newVendoring(t)
			v.opts.Unpacked = unpacked
			test(t, v)
		})
	}
}

func TestVendoring_VendoredPackagesAreFetchedOnce(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, v *vendored) {
		first := v.fill()
		asked := v.registry.Requests("")
		again, err := v.run()
		if err != nil || v.registry.Requests("") != asked || v.registry.Requests("archive") != 2 {
			t.Errorf("%v, %d requests, %d for archives", err, v.registry.Requests("")-asked, v.registry.Requests("archive"))
		}
		if !first.Locks.Equal(again.Locks) || first.Packages[0].State == event.Present || again.Packages[0].State != event.Present || again.Packages[1].State != event.Present {
			t.Errorf("first %+v, then %+v", first, again)
		}
		must.Get(os.Stat(v.path("widget", "1.0.0", linux)))(t)
	})
}

func TestVendoring_VendoredLocksAreThoseOfProvidersLock(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, v *vendored) {
		want := lockOne(t, v.Installer, v.request).Locks
		result, err := v.run()
		if err != nil || !result.Locks.Equal(want) {
			t.Errorf("%v, got\n%s\nwant\n%s", err, result.Locks.Encode(v.Fetcher.Product), want.Encode(v.Fetcher.Product))
		}
		extra := want.Clone()
		extra.Set(depsfile.Lock{Provider: provider(registryHost + "/acme/gone"), Version: version("1.0.0")})
		v.request.Locks = extra
		if result, err = v.run(); err != nil || !result.Locks.Equal(want) {
			t.Errorf("an entry that nobody needs: %v", err)
		}
	})
}

func TestVendoring_VendoredPackagesThatWereChangedAreReplaced(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, v *vendored) {
		v.fill()
		file := v.path("widget", "1.0.0", linux)
		if v.opts.Unpacked {
			file = filepath.Join(file, "more")
		}
		write(t, file, "changed")
		must.EqualSlices(t, v.codes(), []string{"package_differs"})
		result, err := v.run()
		if err != nil || v.registry.Requests("archive") != 3 || (result.Packages[0].State == event.Present) == (result.Packages[1].State == event.Present) {
			t.Errorf("%v, %+v", err, result.Packages)
		}
	})
}

func TestVendoring_ComparesWithTheLockFile(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, v *vendored) {
		others := depsfile.Lock{Provider: widget, Version: version("1.0.0"), Hashes: []getproviders.Hash{
			getproviders.ZH([32]byte{1}), installtest.WrongH1,
		}}
		v.request.Locks = new(depsfile.Locks)
		v.request.Locks.Set(others)
		_, err := v.run()
		must.Fail(t, err, getproviders.ErrLockMismatch)
		must.Fail(t, must.ErrorOf(os.Stat(v.opts.Dir)), os.ErrNotExist)
		others.Hashes = others.Hashes[1:]
		v.request.Locks = new(depsfile.Locks)
		v.request.Locks.Set(others)
		_, err = v.run()
		must.Len(t, getproviders.SplitErrors(err), 1)
		must.Contain(t, err, linux.String())
		v.request.Platforms = v.request.Platforms[:1]
		must.Get(v.run())(t, "nothing is known of a platform")
	})
}

func TestVendoring_VendoredPackagesThatAreNotNeededGo(t *testing.T) {
	v := newVendoring(t)
	v.request.Requirements = require(widgetAddress, "1.0.0", registryHost+"/acme/gadget", "1.0.0")
	v.fill()
	v.opts.Unpacked = true
	asked := v.registry.Requests("")
	v.fill()
	must.Equal(t, v.registry.Requests(""), asked)
	const acme = registryHost + "/acme/"
	kept := []string{"README", acme + "widget/notes.zip", acme + "gadget/index.json", "some/thing"}
	for _, name := range kept {
		write(t, filepath.Join(v.opts.Dir, name), "mine")
	}
	v.opts.Unpacked, v.opts.Prune = false, true
	v.request.Requirements = require(widgetAddress, "1.0.0")
	if got := v.codes(); !slices.Contains(got, "package_unneeded") || !slices.Contains(got, "lock_extra_provider") {
		t.Errorf("%q", got)
	}
	result, err := v.run()
	if err != nil || len(result.Pruned) != 9 || !slices.IsSorted(result.Pruned) {
		t.Errorf("%v, removed %q", err, result.Pruned)
	}
	for _, name := range documents("widget", "1.0.0") {
		kept = append(kept, acme+name)
	}
	for _, plat := range v.request.Platforms {
		kept = append(kept, acme+"widget/"+widget.PackedName(version("1.0.0"), plat))
	}
	slices.Sort(kept)
	must.EqualSlices(t, files(t, v.opts.Dir), kept)
}

func TestVendoring_NothingIsPrunedIfAnythingFails(t *testing.T) {
	v := newVendoring(t)
	v.fill()
	v.opts.Prune, v.request.Platforms = true, []getproviders.Platform{{OS: "plan9", Arch: "mips"}}
	result, err := v.run()
	if !errors.Is(err, getproviders.ErrPlatformMissing) || len(result.Pruned) > 0 || result.Locks != nil || len(files(t, v.opts.Dir)) != 2+3 {
		t.Errorf("%v, %+v", err, result)
	}
}

func TestVendoring_AsksForAllMetadataBeforeTheFirstArchive(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, v *vendored) {
		for _, required := range []getproviders.Requirements{
			require(widgetAddress, "1.0.0", registryHost+"/acme/nobody", ""),
			require(widgetAddress, "1.0.0", registryHost+"/acme/gadget", "9.0"),
		} {
			v.request.Requirements = required
			must.Refuse(v.run())(t)
		}
		v.request.Requirements = require(widgetAddress, "1.0.0")
		v.request.Platforms = append(slices.Clone(v.request.Platforms), getproviders.Platform{OS: "plan9", Arch: "mips"})
		result, err := v.run()
		must.Fail(t, err, getproviders.ErrPlatformMissing)
		for _, p := range result.Packages {
			must.Equal(t, p.State == event.NotTried, p.Err == nil)
		}

		must.Equal(t, v.registry.Requests("archive"), 0)
		_, left := os.Stat(filepath.Dir(v.opts.Dir))
		must.Fail(t, left, fs.ErrNotExist)
	})
}

func TestVendoring_KeepsAllPackagesOrNone(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, v *vendored) {
		v.fill()
		before := files(t, v.opts.Dir)
		v.request.Requirements = require(widgetAddress, "2.0.0", registryHost+"/acme/gadget", "2.0.0")
		v.request.Upgrade = map[getproviders.Provider]getproviders.Version{widget: {}}
		v.registry.Break("archive", providertest.Fault{Path: "gadget", Status: 404})

		result, err := v.run()
		failures := getproviders.SplitErrors(err)
		must.Len(t, failures, 2)
		must.EqualSlices(t, files(t, v.opts.Dir), before)
		for _, p := range result.Packages {
			want := event.NotTried
			if p.Provider.Type == "gadget" {
				want = event.Failed
			}
			must.Equal(t, p.State, want)
		}

		v.registry.Break("archive", providertest.Fault{})
		v.fill()
	})
}

func TestVendoring_FromAnUnpackedMirrorCopies(t *testing.T) {
	v := newVendoring(t)
	source, unpacked := newSource(t), filepath.Join(t.TempDir(), "package")
	write(t, filepath.Join(unpacked, "terraform-provider-widget"), "x")
	source.Add(widgetAddress, "1.0.0", getproviders.LocalDirectory(unpacked))
	v.Fetcher.Source, v.request.Platforms = source, nil
	_, err := v.run()
	must.Contain(t, err, "is an unpacked package")
	v.opts.Unpacked = true
	v.fill()
	if info, err := os.Lstat(v.path("widget", "1.0.0", linux)); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
}

func TestVendoring_CheckVendoredSaysWhatIsMissing(t *testing.T) {
	v := newVendoring(t)
	must.EqualSlices(t, v.codes(), []string{"lock_missing_provider"})
	v.request.Locks = lockOne(t, v.Installer, v.request).Locks
	must.EqualSlices(t, v.codes(), []string{"package_absent", "package_absent"})
	v.fill()
	lock, _ := v.request.Locks.Provider(widget)
	lock.Hashes = slices.DeleteFunc(lock.Hashes, func(h getproviders.Hash) bool { return h.Scheme() == hashing.H1 })
	v.request.Locks.Set(lock)
	must.EqualSlices(t, v.codes(), []string{"lock_without_hash", "lock_without_hash"})
	v.request.Requirements = require(widgetAddress, "2.0.0")
	must.EqualSlices(t, v.codes(), []string{"constraint_unsatisfied"})
}

func TestVendoring_NeedsAPlace(t *testing.T) {
	v := newVendoring(t)
	write(t, v.opts.Dir, "a file")
	_, err := v.run()
	must.Contain(t, err, "is not one")
	must.Equal(t, read(t, v.opts.Dir), "a file")
	must.Refuse(mirror.Vendor(t.Context(), &providercache.Fetcher{}, v.opts, v.request))(t, "no source is configured")
}
