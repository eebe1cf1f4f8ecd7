package mirror_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/layout"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// documentsOf are the paths of a version's signed documents.
func (v *vendored) documentsOf(name, version string) (all []string) {
	for _, document := range documents(name, version) {
		all = append(all, filepath.Join(v.opts.Dir, registryHost, "acme", document))
	}
	return all
}

func present(paths []string) (n int) {
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			n++
		}
	}
	return n
}

func TestVendoring_VendoredArchivesKeepWhatIsSigned(t *testing.T) {
	v := newVendoring(t)
	v.fill()
	must.Equal(t, present(v.documentsOf("widget", "1.0.0")), 3)
	from := newInstaller(t, &getproviders.FilesystemMirrorSource{Dir: v.opts.Dir, Signers: trusts(v.registry)})
	locks, report := install(t, from, v.request.Requirements, &depsfile.Locks{})
	lock, _ := locks.Provider(widget)
	must.Equal(t, report.Outcomes[0].Authentication.KeyID, v.registry.Signer().KeyID())
	must.Len(t, lock.Hashes, 4)
}

func TestVendoring_WhatIsSignedComesAgainIfItDiffers(t *testing.T) {
	v := newVendoring(t)
	v.fill()
	documents, before := v.documentsOf("widget", "1.0.0"), files(t, v.opts.Dir)
	sums := read(t, documents[0])
	write(t, documents[0], strings.Repeat("0", 64)+sums[64:]) // of one platform alone
	must.Contain(t, v.codes(), "documents_differ")
	v.fill()
	must.Equal(t, read(t, documents[0]), sums)
	must.EqualSlices(t, files(t, v.opts.Dir), before)
}

func TestVendoring_RemovesWhatIsNotTrueOfAllArchives(t *testing.T) {
	v := newVendoring(t)
	v.fill()
	write(t, v.path("widget", "1.0.0", otherPlatforms[1]), string(zipOf(t, map[string]string{"terraform-provider-widget": "another build"})))
	result, err := v.run()
	if err != nil || present(v.documentsOf("widget", "1.0.0")) != 0 || result.Packages[0].State != event.Present {
		t.Errorf("%v, %q", err, files(t, v.opts.Dir))
	}
}

func TestVendoring_WhatIsSignedGoesWithItsArchives(t *testing.T) {
	v := newVendoring(t)
	v.opts.Prune = true
	v.fill()
	v.opts.Unpacked = true
	if got := strings.Join(v.codes(), " "); strings.Count(got, "package_absent") != 2 || strings.Count(got, "package_unneeded") != 5 {
		t.Errorf("%s", got)
	}
	v.fill()
	must.Equal(t, present(v.documentsOf("widget", "1.0.0")), 0)
}

// placing puts the only packages of a provider into the vendored directory.
func placing(t *testing.T, unpacked bool) *vendored {
	t.Helper()
	v := vendoringOf(t)
	own := registryHost + "/acme/own"
	dir := filepath.Join(v.opts.Dir, layout.UnpackedPath(provider(own), version("1.0.0"), linux))
	if unpacked {
		write(t, filepath.Join(dir, "terraform-provider-own"), "mine")
	} else {
		archive := string(zipOf(t, map[string]string{"terraform-provider-own": "mine", "docs/": ""}))
		write(t, v.path("own", "1.0.0", linux), archive)
		write(t, v.path("own", "0.9.0", linux), archive)
	}
	v.request.Platforms, v.opts.Placed = []getproviders.Platform{linux}, []getproviders.Provider{provider(own)}
	v.request.Requirements = require(own, "1.0.0", widgetAddress, "1.0.0")
	pattern := []getproviders.Pattern{getproviders.Pattern(provider(own))}
	v.Fetcher.Source = getproviders.MultiSource{Selectors: []getproviders.Selector{
		{Source: &getproviders.FilesystemMirrorSource{Dir: v.opts.Dir}, Include: pattern}, {Source: v.Fetcher.Source, Exclude: pattern},
	}}
	return v
}

func TestVendoring_PlacedPackagesAreLockedAndStay(t *testing.T) {
	t.Parallel()
	for _, placed := range []bool{false, true} {
		eachWay(t, func(t *testing.T, wanted *vendored) {
			v := placing(t, placed)
			v.opts.Unpacked, v.opts.Prune = wanted.opts.Unpacked, true
			before := files(t, v.opts.Dir)
			result := v.fill()
			lock, ok := result.Locks.Provider(v.opts.Placed[0])
			if !ok || len(lock.Hashes) == 0 || result.Packages[0].State != event.Present || result.Packages[1].State == event.Present || len(result.Pruned) > 0 {
				t.Errorf("%+v, %q", lock, result.Pruned)
			}
			for _, name := range before {
				must.Contain(t, files(t, v.opts.Dir), name)
			}
			asked := v.registry.Requests("")
			again, err := v.run()
			if err != nil || !again.Locks.Equal(result.Locks) || v.registry.Requests("") != asked {
				t.Errorf("again: %v", err)
			}
		})
	}
}

func TestVendoring_PlacedPackagesAreComparedWithTheLockFile(t *testing.T) {
	t.Parallel()
	for _, unpacked := range []bool{false, true} {
		v := placing(t, unpacked)
		v.request.Requirements = require(registryHost+"/acme/own", "1.0.0")
		v.request.Locks = new(depsfile.Locks)
		v.request.Locks.Set(depsfile.Lock{Provider: v.opts.Placed[0], Version: version("1.0.0"), Hashes: []getproviders.Hash{
			installtest.WrongH1,
		}})
		must.EqualSlices(t, v.codes(), []string{"package_differs"})
		before := files(t, v.opts.Dir)
		_, err := v.run()
		must.Contain(t, err, "checksum")
		must.EqualSlices(t, files(t, v.opts.Dir), before)
		v.request.Locks, v.request.Platforms = nil, otherPlatforms
		must.Refuse(v.run())(t, "a package for another platform was found")
	}
}
