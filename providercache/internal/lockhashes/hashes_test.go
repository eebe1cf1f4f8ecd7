package lockhashes_test

import (
	"crypto/sha256"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/hashing"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/internal/unpack"
)

func TestHashes_OfManyPlatforms(t *testing.T) {
	// Not parallel: it counts what is left in the directory for temporary files.
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary)
	registry, in := newRegistry(t)
	platforms := everyPlatform.Platforms
	archives := map[getproviders.Platform][]byte{}
	for _, plat := range platforms {
		archives[plat] = zipOf(t, map[string]string{"terraform-provider-widget_v1.0.0": plat.String(), "docs/": "", "docs/a": "a"})
		registry.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.0.0", Platform: plat, Archive: archives[plat]})
	}
	registry.Break("archive", providertest.Fault{CutAfter: 100, Times: 2})
	in.Target = nil // it isn't needed
	got := must.Get(in.Fetcher.Hashes(t.Context(), provider(widgetAddress), v1, platforms))(t)
	must.Equal(t, registry.Requests("archive"), len(platforms)+2)
	var signed []getproviders.Hash
	for _, archive := range archives {
		signed = append(signed, getproviders.ZH(sha256.Sum256(archive)))
	}
	want := map[getproviders.Platform][]getproviders.Hash{}
	for plat := range archives {
		want[plat] = hashing.Sort(append(slices.Clone(signed), h1Of(t, map[string]string{
			"terraform-provider-widget_v1.0.0": plat.String(), "docs/a": "a",
		})))
	}
	if !maps.EqualFunc(got, want, slices.Equal[[]getproviders.Hash]) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	must.Len(t, tree(t, temporary), 0)
}

func TestHashes_OfADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "terraform-provider-widget"), "x")
	source := newSource(t)
	source.Add("acme/widget", "1.0.0", getproviders.LocalDirectory(dir))
	in := newInstaller(t, source)
	got := must.Get(in.Fetcher.Hashes(t.Context(), acmeWidget, v1, onLinux))(t)
	must.EqualSlices(t, got[linux], []getproviders.Hash{h1Of(t, map[string]string{"terraform-provider-widget": "x"})})
	nothingLeft(t, in)
}

func TestHashes_TellsWhichPlatformsFail(t *testing.T) {
	source := widgetSource(t)
	in := newInstaller(t, source)
	got, err := in.Fetcher.Hashes(t.Context(), acmeWidget, v1, slices.Concat(onLinux, otherPlatforms))
	failures := providerErrors(t, err)
	if len(got) != 1 || len(got[linux]) == 0 || len(failures) != 2 || !errors.Is(err, getproviders.ErrPlatformMissing) {
		t.Fatalf("got %v, %v", got, err)
	}
	for i, plat := range otherPlatforms {
		must.Equal(t, failures[i].Step, during.Metadata)
		must.Contain(t, failures[i].Error(), plat.String())
	}
	must.Refuse(new(providercache.Fetcher).Hashes(t.Context(), acmeWidget, v1, nil))(t, "no error without a Source")
}

func TestHashes_KeepsTheRules(t *testing.T) {
	source := parallelSource(t)
	source.AddZip(t, "acme/widget", "1.0.0", zipOf(t, map[string]string{"README": ""}))
	in := newInstaller(t, source)
	must.Fail(t, must.ErrorOf(in.Fetcher.Hashes(t.Context(), acmeWidget, v1, onLinux)), unpack.RuleExecutable)
	source.Trust("acme/widget", "1.0.0", &trust{Refuse: true})
	must.Fail(t, must.ErrorOf(in.Fetcher.Hashes(t.Context(), acmeWidget, v1, onLinux)), errRefused)
	nothingLeft(t, in)
}
