package mirror_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/mirror"
)

// mirroring is a registry and a mirror that is to be filled from it.
type mirroring struct {
	tb testing.TB
	*providercache.Installer
	registry *providertest.Registry
	dir      string
	to       mirror.Destination // nil: the directory
	opts     mirror.Options
}

// newMirroring has three versions each of widget and gadget, for three
// platforms, in archives with directories.
func newMirroring(t *testing.T) *mirroring {
	t.Parallel()
	return mirroringOf(t)
}

func mirroringOf(t *testing.T) *mirroring {
	t.Helper()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0", "1.1.0", "2.0.0")
	lockable(t, registry, "gadget", "1.0.0", "1.1.0", "2.0.0")
	in.Target, in.Fetcher.StateDir = nil, filepath.Join(t.TempDir(), "state")
	return &mirroring{t, in, registry, filepath.Join(t.TempDir(), "deep", "mirror"), nil,
		mirror.Options{Platforms: append(slices.Clone(otherPlatforms), linux)}}
}

// want reads "widget" or "widget@1.0.0".
func want(names ...string) (all []mirror.Spec) {
	for _, name := range names {
		typ, v, exact := strings.Cut(name, "@")
		w := mirror.Spec{PackageSpec: getproviders.PackageSpec{Provider: provider(registryHost + "/acme/" + typ)}}
		if exact {
			w.Version = version(v)
		}
		all = append(all, w)
	}
	return all
}

// again starts another run of the program with a source, because the one before caches its answers.
func (m *mirroring) again(source getproviders.Source) {
	m.Fetcher.Source = source
	m.Fetcher = installtest.Again(m.Fetcher)
}

// fill fills the mirror with what want reads.
func (m *mirroring) fill(names ...string) mirror.Result {
	m.tb.Helper()
	return must.Get(m.run(want(names...)...))(m.tb)
}

// run fills the mirror, and checks that it is complete.
func (m *mirroring) run(wanted ...mirror.Spec) (mirror.Result, error) {
	m.tb.Helper()
	to := m.to
	if to == nil {
		to = mirror.Directory(m.dir)
	}
	result, err := mirror.Update(m.tb.Context(), m.Fetcher, to, wanted, m.opts)
	for _, problem := range brokenIndexes(m.dir) {
		m.tb.Error(problem)
	}
	return result, err
}

func Example() {
	source, client, widget, dir, closeAll := exampleSource()
	defer closeAll()
	in := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Client: client, Platform: linux},
	}
	result, err := mirror.Update(context.Background(), in.Fetcher, mirror.Directory(dir), []mirror.Spec{
		{PackageSpec: getproviders.PackageSpec{Provider: widget}},
	}, mirror.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := result.Packages[0]
	fmt.Println(filepath.Base(p.Path), p.Authentication.TrustLevel)
	// Output: terraform-provider-widget_1.1.0_linux_amd64.zip self-signed
}

// brokenIndexes reads a mirror as its clients do, and says what is wrong with it.
func brokenIndexes(dir string) (problems []string) {
	indexes, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*", "index.json"))
	for _, index := range indexes {
		var listed struct{ Versions map[string]struct{} }
		if err := readJSON(index, &listed); err != nil {
			return append(problems, err.Error())
		}
		for v := range listed.Versions {
			var document struct {
				Archives map[string]struct {
					URL    string
					Hashes []string
				}
			}
			if err := readJSON(filepath.Join(filepath.Dir(index), v+".json"), &document); err != nil {
				problems = append(problems, err.Error())
			}
			for plat, archive := range document.Archives {
				h1, err := dirhash.HashZip(filepath.Join(filepath.Dir(index), archive.URL), dirhash.Hash1)
				if err != nil || len(archive.Hashes) == 0 || archive.Hashes[0] != h1 || !strings.Contains(archive.URL, plat) {
					problems = append(problems, index+": "+archive.URL+" is not what it should be")
				}
			}
		}
	}
	return problems
}

// documents are the files of a version's signed documents, sorted.
func documents(typ, v string) []string {
	sums := fmt.Sprintf("%s/terraform-provider-%s_%s_SHA256SUMS", typ, typ, v)
	return []string{sums, sums + ".keys.json", sums + ".sig"}
}

func readJSON(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

func (m *mirroring) file(name string) string {
	return filepath.Join(m.dir, registryHost, "acme", name)
}

func (m *mirroring) files() (names []string) {
	m.tb.Helper()
	for _, name := range files(m.tb, m.dir) {
		if name != ".tfdeps-lock" { // of a bucket
			names = append(names, strings.TrimPrefix(name, registryHost+"/acme/"))
		}
	}
	return names
}

func TestMirror_OfWhatIsLockedAsksForNothing(t *testing.T) {
	m := newMirroring(t)
	wanted := want("widget@1.0.0")
	m.opts.Platforms = nil
	lock := lockOne(t, m.Installer, providercache.LockRequest{Requirements: require(widgetAddress, "1.0.0")})
	locked, _ := lock.Locks.Provider(wanted[0].Provider)
	must.Get(m.run(wanted...))(t)
	wanted[0].Hashes = locked.Hashes
	must.Len(t, files(t, filepath.Join(m.Fetcher.StateDir, "mirrors")), 3) // receipts, and the files of two locks
	for _, state := range []string{m.Fetcher.StateDir, ""} {
		asked := m.registry.Requests("")
		m.Fetcher.StateDir = state
		must.Equal(t, must.Get(m.run(wanted...))(t).Packages[0].State, event.Present)
		must.Equal(t, m.registry.Requests(""), asked)
	}
}

func TestMirror_HasAllVersionsThatAreAllowed(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms, m.opts.AllPlatforms = nil, true
	wanted := want("widget", "widget@1.0.0") // one is wanted twice
	wanted[0].AllVersions, wanted[0].Constraints = true, constraints("~> 1.0")
	must.Len(t, must.Get(m.run(wanted...))(t).Packages, 6)
	must.Equal(t, read(t, m.file("widget/index.json")), "{\n  \"versions\": {\n    \"1.0.0\": {},\n    \"1.1.0\": {}\n  }\n}")
	wanted[0].Constraints = constraints("> 9")
	_, err := m.run(wanted...)
	must.Contain(t, err, "has no version that \"> 9.0.0\" allows")
}

func TestMirror_MergesWithWhatIsThere(t *testing.T) {
	m := newMirroring(t)
	write(t, m.file("other/terraform-provider-other_3.0.0_linux_amd64.zip"), string(zipOf(t, map[string]string{"terraform-provider-other": "x", "d/": ""})))
	write(t, m.file("other/README"), "ours")
	m.fill("widget@1.0.0")
	m.fill("widget@1.1.0")
	for name, versions := range map[string]string{"widget": "1.0.0 1.1.0", "other": "3.0.0"} {
		for _, v := range strings.Fields(versions) {
			must.Contain(t, read(t, m.file(name+"/index.json")), v)
		}
	}
}

func TestMirror_ReplacesWhatIsDamaged(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	archive := m.file("widget/terraform-provider-widget_1.0.0_linux_amd64.zip")
	original := read(t, archive)
	for name, content := range map[string]string{
		"cut":     original[:40],
		"another": string(zipOf(t, map[string]string{"terraform-provider-widget": "evil"})),
		"empty":   "",
	} {
		write(t, archive, content)
		result := must.Get(m.run(want("widget@1.0.0")...))(t, name)
		must.Equal(t, read(t, archive), original, name)
		must.Equal(t, result.Packages[slices.IndexFunc(result.Packages, func(p event.Outcome) bool { return p.State != event.Present })].Path, archive, name)
	}
}

func TestMirror_DoesNotListWhatCannotBeRead(t *testing.T) {
	m := newMirroring(t)
	write(t, m.file("widget/terraform-provider-widget_0.9.0_linux_amd64.zip"), "no archive")
	_, err := m.run(want("widget@1.0.0")...)
	must.Equal(t, getproviders.CodeOf(err), "mirror_index")
	must.Contain(t, err, "_0.9.0_linux_amd64.zip: ")
	index := read(t, m.file("widget/index.json"))
	must.NotContain(t, index, "0.9.0")
	must.Contain(t, index, "1.0.0")
}

func TestMirror_OneFailureDoesNotKeepOthersOutOfTheMirror(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms, m.opts.Prune = onLinux, true
	write(t, m.file("widget/terraform-provider-widget_0.9.0_linux_amd64.zip"), string(zipOf(t, map[string]string{"terraform-provider-widget": "x"})))
	m.registry.Break("archive", providertest.Fault{Path: "gadget", Status: 404})

	result, err := m.run(want("widget", "gadget")...)
	failed, _ := getproviders.Failure(err)
	must.Equal(t, failed.Provider.Type+" "+string(failed.Step), "gadget fetch")
	must.Len(t, result.Pruned, 0)
	for _, v := range []string{"0.9.0", "2.0.0"} {
		must.Contain(t, read(t, m.file("widget/index.json")), v)
	}
}

func TestMirror_AsksForAllMetadataBeforeTheFirstArchive(t *testing.T) {
	m := newMirroring(t)
	m.opts.Platforms = []getproviders.Platform{linux, {OS: "plan9", Arch: "mips"}}
	result, err := m.run(want("nobody", "widget", "gadget@7.0.0")...)
	var about []string
	for _, e := range getproviders.SplitErrors(err) {
		failed, _ := getproviders.Failure(e)
		about = append(about, failed.Provider.Type+" "+string(failed.Step))
	}
	must.Equal(t, strings.Join(about, ", "), "gadget metadata, gadget metadata, nobody query, widget metadata")
	must.Fail(t, err, getproviders.ErrPlatformMissing)

	must.Equal(t, m.registry.Requests("archive"), 0)
	var states []event.State
	for _, p := range result.Packages {
		states = append(states, p.State)
	}
	must.EqualSlices(t, states, []event.State{event.Failed, event.Failed, event.NotTried, event.Failed})
	_, left := os.Stat(filepath.Dir(m.dir))
	must.Fail(t, left, fs.ErrNotExist)
}

// What is there already stays listed, with the archives that a run hasn't tried to replace.
func TestMirror_StaysWholeIfMetadataFails(t *testing.T) {
	for _, name := range []string{"nobody", "widget@7.0.0"} {
		m := mirroringOf(t)
		m.opts.Platforms = onLinux
		m.fill("widget@1.0.0")
		before := m.files()
		write(t, m.file("gadget/terraform-provider-gadget_1.0.0_linux_amd64.zip"), string(zipOf(t, map[string]string{"terraform-provider-gadget": "another"})))

		must.Refuse(m.run(want("widget@1.0.0", "gadget@1.0.0", name)...))(t)
		must.Equal(t, m.registry.Requests("archive"), 1)
		for _, file := range before {
			must.Get(os.Stat(m.file(file)))(t)
		}
		must.Contain(t, read(t, m.file("gadget/index.json")), "1.0.0")
	}
}

func TestMirror_WhatIsOnlyListedStopsNoOthers(t *testing.T) {
	m := newMirroring(t)
	m.registry.Break("package", providertest.Fault{Path: "widget/1.0.0/", Status: 404})
	m.opts.Platforms, m.opts.AllPlatforms = nil, true
	wanted := want("widget")
	wanted[0].AllVersions = true
	result, err := m.run(wanted...)
	must.Len(t, getproviders.SplitErrors(err), 3)
	must.Len(t, result.Packages, 9)
	must.Equal(t, m.registry.Requests("archive"), 6)

	asked := m.registry.Requests("archive")
	m.opts.Platforms, m.opts.AllPlatforms = onLinux, false
	must.Refuse(m.run(want("widget@1.0.0", "gadget")...))(t)
	must.Equal(t, m.registry.Requests("archive"), asked)
}

func TestMirror_PruneLeavesWhatIsWanted(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0", "widget@1.1.0", "gadget")
	write(t, m.file("gadget/README"), "ours")
	m.opts.Prune, m.opts.Platforms = true, onLinux
	result := m.fill("widget@1.1.0")
	left := slices.Concat([]string{"gadget/README", "widget/1.1.0.json", "widget/index.json"}, documents("widget", "1.1.0"),
		[]string{"widget/terraform-provider-widget_1.1.0_linux_amd64.zip"})
	must.EqualSlices(t, m.files(), left)
	if len(result.Pruned) != 4+2+3+2+2*3 || !slices.IsSorted(result.Pruned) {
		t.Errorf("removed: %q", result.Pruned)
	}
	if _, err := m.run(); err == nil || len(m.files()) != len(left) {
		t.Errorf("a mirror of nothing: %v", err)
	}
}

func TestMirror_NothingIsListedBeforeItIsDescribed(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	write(t, m.file("widget/1.1.0.json/in the way"), "")
	_, err := m.run(want("widget@1.1.0", "gadget@1.0.0")...)
	must.Equal(t, getproviders.CodeOf(err), "mirror_index")
	must.Contain(t, err, m.file("widget/1.1.0.json")+": ")
	for _, name := range []string{"widget", "gadget"} {
		index := read(t, m.file(name+"/index.json"))
		must.Contain(t, index, "1.0.0", name)
		must.NotContain(t, index, "1.1.0", name)
	}
}

func TestMirror_AnArchiveIsNotListedWhileItIsReplaced(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	archive := m.file("widget/terraform-provider-widget_1.0.0_linux_amd64.zip")
	succeed(t, os.Remove(archive))
	write(t, archive+"/in the way", "")
	must.Refuse(m.run(want("widget@1.0.0")...))(t, "a directory was replaced")
	listed := read(t, m.file("widget/1.0.0.json"))
	must.NotContain(t, listed, "linux_amd64")
	must.Contain(t, listed, "darwin_arm64")
}

// TestMirror_NothingIsReplacedThatStaysListed: where the document can't be written, no archive of its version changes.
func TestMirror_NothingIsReplacedThatStaysListed(t *testing.T) {
	m := newMirroring(t)
	m.fill("widget@1.0.0")
	archives := []string{m.file("widget/terraform-provider-widget_1.0.0_linux_amd64.zip"), m.file("widget/terraform-provider-widget_1.0.0_darwin_arm64.zip")}
	other := string(zipOf(t, map[string]string{"terraform-provider-widget": "other"}))
	for _, archive := range archives {
		write(t, archive, other)
	}
	for _, name := range []string{"index.json", "1.0.0.json"} {
		succeed(t, os.Remove(m.file("widget/"+name)))
	}
	write(t, m.file("widget/1.0.0.json/in the way"), "")
	_, err := m.run(want("widget@1.0.0")...)
	must.Equal(t, getproviders.CodeOf(err), "mirror_index")
	for _, archive := range archives {
		must.Equal(t, read(t, archive), other, archive)
	}
}

func TestMirror_OfASourceThatListsNoHashes(t *testing.T) {
	m := newMirroring(t)
	source := newSource(t)
	source.AddZip(t, widgetAddress, "1.0.0")
	unpacked := filepath.Join(t.TempDir(), "package")
	write(t, filepath.Join(unpacked, "terraform-provider-gadget"), "x")
	source.Add(registryHost+"/acme/gadget", "1.0.0", getproviders.LocalDirectory(unpacked))
	m.Fetcher.Source, m.opts.Platforms = source, nil
	for _, present := range []bool{false, true} {
		must.Equal(t, m.fill("widget").Packages[0].State == event.Present, present)
	}
	_, err := m.run(want("gadget")...)
	must.Contain(t, err, "a mirror holds archives")
}

func TestMirror_RefusesPlacesThatAreNone(t *testing.T) {
	m := newMirroring(t)
	m.dir = filepath.Join(t.TempDir(), "file")
	write(t, m.dir, "")
	_, err := m.run(want("widget")...)
	must.Contain(t, err, "a mirror is a directory")
	m.dir = filepath.Join(m.dir, "below")
	must.Refuse(m.run(want("widget")...))(t, "below a file there is a mirror")
}

func TestMirror_LeavesNothingUnfinishedWhenTheContextEnds(t *testing.T) {
	m := newMirroring(t)
	ctx, cancel := context.WithCancel(t.Context())
	m.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.Fetching {
			cancel()
		}
	}
	_, err := mirror.Update(ctx, m.Fetcher, mirror.Directory(m.dir), want("widget@1.1.0", "gadget"), m.opts)
	must.Fail(t, err, context.Canceled)
	must.Len(t, brokenIndexes(m.dir), 0)
	must.Len(t, must.Get(filepath.Glob(filepath.Join(m.dir, ".*")))(t), 0)
}
