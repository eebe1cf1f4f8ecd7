package lockhashes_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/during"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
	"github.com/tfdeps/tfdeps/providercache/event"
	"github.com/tfdeps/tfdeps/providercache/internal/fetch"
	"github.com/tfdeps/tfdeps/providercache/internal/lockhashes"
)

func TestLock_ReadsEachArchiveOnce(t *testing.T) {
	registry, in := lockableRegistry(t, "widget")
	lockable(t, registry, "gadget", "1.0.0", "2.0.0")
	in.Target, in.Fetcher.StateDir = nil, t.TempDir()
	var requests []lockhashes.Request
	for range 20 {
		requests = append(requests, lockhashes.Request{
			Requirements: require(widgetAddress, "", registryHost+"/acme/gadget", ""),
			Platforms:    append(slices.Clone(otherPlatforms), linux, linux),
		})
	}
	results := must.Get(in.Fetcher.Lock(t.Context(), requests...))(t)
	for i, result := range results {
		if result.Err != nil || len(result.Packages) != 6 || encoded(result.Locks) != encoded(results[0].Locks) {
			t.Fatalf("result %d: %v, %d packages\n%s", i, result.Err, len(result.Packages), result.Locks.Encode(product))
		}
	}
	again := lockOne(t, in, requests[0])
	must.Equal(t, encoded(again.Locks), encoded(results[0].Locks))
	for kind, want := range map[string]int{"archive": 6, "sums": 2, "signature": 2, "versions": 2} {
		must.Equal(t, registry.Requests(kind), want, kind)
	}
	for _, p := range again.Packages {
		if p.State != event.Recalled || !p.New || len(p.Missing) != 2 || p.Authentication.TrustLevel != getproviders.LevelCommunity {
			t.Errorf("%v for %v: %+v", p.Selection.Provider, p.Platform, p)
		}
	}
}

func TestLock_SaysWhatIsNew(t *testing.T) {
	t.Parallel()
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0", "1.1.0")
	widget := provider(widgetAddress)
	request := lockhashes.Request{Requirements: require(widgetAddress, "~> 1.0")}
	request.Locks = lockOne(t, in, request).Locks
	request.Platforms = append(slices.Clone(otherPlatforms), linux)
	result := lockOne(t, in, request)
	want := []bool{true, true, false}
	for i, p := range result.Packages {
		must.Equal(t, !p.New && p.Extended, want[i], p.Platform)
		must.Equal(t, len(p.Missing) == 1, want[i], p.Platform)
	}
	request.Upgrade = map[getproviders.Provider]getproviders.Version{widget: v1}
	result = lockOne(t, in, request)
	if lock, _ := result.Locks.Provider(widget); lock.Version != v1 || len(lock.Hashes) != 6 || !result.Packages[0].New {
		t.Errorf("another version comes to %v", lock)
	}
	if lock, _ := request.Locks.Provider(widget); lock.Version != version("1.1.0") {
		t.Error("the locks that were given have been changed")
	}
}

func TestLock_OfAllPlatforms(t *testing.T) {
	_, in := lockableRegistry(t, "widget")
	result := lockOne(t, in, lockhashes.Request{Requirements: require(widgetAddress, ""), AllPlatforms: true})
	var got []string
	for _, p := range result.Packages {
		got = append(got, p.Platform.String())
	}
	must.Equal(t, strings.Join(got, " "), "darwin_arm64 linux_amd64 windows_amd64")
	source := newSource(t)
	source.AddZip(t, "acme/widget", "1.0.0")
	must.Contain(t, installtest.First(newInstaller(t, source).Fetcher.Lock(t.Context(),
		lockhashes.Request{Requirements: require("acme/widget", ""), AllPlatforms: true})).Err, "doesn't list the platforms")
}

func TestLock_FailureOfOneRequestLeavesOthers(t *testing.T) {
	registry, in := lockableRegistry(t, "widget", "gadget")
	widget, gadget := widgetAddress, registryHost+"/acme/gadget"
	elsewhere := []getproviders.Platform{{OS: "plan9", Arch: "mips"}, linux}
	results, err := in.Fetcher.Lock(t.Context(),
		lockhashes.Request{Requirements: require(widget, "", gadget, ""), Platforms: elsewhere},
		lockhashes.Request{Requirements: require(widget, "")},
		lockhashes.Request{Requirements: require(widget, ""), Only: []getproviders.Provider{provider(gadget)}},
		lockhashes.Request{Requirements: require(widget, "9.0", gadget, "")},
	)
	failures := providerErrors(t, results[0].Err)
	if len(failures) != 2 || failures[0].Platform != elsewhere[0] ||
		failures[0].Provider != provider(gadget) || !errors.Is(failures[0], getproviders.ErrPlatformMissing) {
		t.Errorf("a platform that is missing: %v", results[0].Err)
	}
	got := results[0].Packages // the one that another request needs was found all the same
	if len(got) != 1 || got[0].Platform != linux || got[0].Provider != provider(widget) || results[0].Locks != nil {
		t.Errorf("of the others there are %+v", got)
	}
	must.Equal(t, registry.Requests("archive"), 1)
	if results[1].Err != nil || results[1].Locks == nil {
		t.Errorf("another request: %v", results[1].Err)
	}
	for _, i := range []int{2, 3} {
		if failures := providerErrors(t, results[i].Err); len(failures) != 1 || failures[0].Step != during.Select || results[i].Locks != nil {
			t.Errorf("result %d: %v", i, results[i].Err)
		}
	}
	var joined []error
	for _, r := range results {
		joined = append(joined, getproviders.SplitErrors(r.Err)...)
	}
	must.Len(t, joined, 4)
	must.EqualSlices(t, getproviders.SplitErrors(err), joined)
}

func TestLock_AsksForAllMetadataBeforeTheFirstArchive(t *testing.T) {
	registry, in := lockableRegistry(t, "widget", "gadget")
	widget, gadget, nobody := widgetAddress, registryHost+"/acme/gadget", registryHost+"/acme/nobody"
	plan9 := getproviders.Platform{OS: "plan9", Arch: "mips"}
	var states []event.State
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.Done && e.Platform == linux {
			states = append(states, e.State)
		}
	}

	for _, r := range []lockhashes.Request{
		{Requirements: require(widget, "", nobody, "")},
		{Requirements: require(widget, "", gadget, "9.0")},
		{Requirements: require(widget, "", gadget, ""), Platforms: []getproviders.Platform{linux, plan9}},
	} {
		result := installtest.First(in.Fetcher.Lock(t.Context(), r))
		must.Len(t, result.Packages, 0)
		if result.Err == nil || result.Locks != nil {
			t.Errorf("%v: got %v, %v", r, result.Locks, result.Err)
		}
	}

	must.Equal(t, registry.Requests("archive"), 0)
	must.EqualSlices(t, states, []event.State{event.NotTried, event.NotTried, event.NotTried, event.NotTried})
}

func TestLock_RefusesWhatFailsAuthentication(t *testing.T) {
	registry, in := lockableRegistry(t, "widget")
	registry.Break("archive", providertest.Fault{Body: func([]byte) []byte { return []byte("<html>") }})
	in.Fetcher.StateDir = t.TempDir()
	request := lockhashes.Request{Requirements: require(widgetAddress, "")}
	must.Fail(t, lock(t, in, request).Err, getproviders.ErrAuthentication)
	registry.Break("archive", providertest.Fault{})
	must.Equal(t, lockOne(t, in, request).Packages[0].State, event.Fetched)
}

// A list of hashes is what network mirrors have.
func TestLock_TrustsListsOnlyOnDemand(t *testing.T) {
	source := widgetSource(t)
	source.Trust("acme/widget", "1.0.0", listedHashes{"h1:listed=", "zh:listed"})
	in := newInstaller(t, source)
	request := lockhashes.Request{Requirements: require("acme/widget", "")}
	must.Fail(t, lock(t, in, request).Err, getproviders.ErrAuthentication)
	in = newInstaller(t, source)
	in.Fetcher.HashPolicy = fetch.TrustMirrorHashes
	result := lock(t, in, request)
	if result.Err != nil || fmt.Sprint(result.Packages[0].Hashes) != "[h1:listed= zh:listed]" || result.Packages[0].State != event.Listed {
		t.Errorf("got %+v", result)
	}
	source.Trust("acme/widget", "1.0.0", listedHashes{"h9:unknown="})
	must.Fail(t, lock(t, in, request).Err, getproviders.ErrAuthentication)
	source.Trust("acme/widget", "1.0.0", nil)
	if got := lock(t, in, request); got.Err != nil || got.Packages[0].State != event.Fetched {
		t.Errorf("without a list: %+v", got)
	}
}

// Mirrors that Terraform and OpenTofu make list an h1 and nothing else.
func TestLock_RemembersWhatMirrorsListByAnH1(t *testing.T) {
	source := widgetSource(t)
	want := h1Of(t, map[string]string{"terraform-provider-widget": "provider 1.0.0\n"})
	source.Trust("acme/widget", "1.0.0", listedHashes{want})
	in := newInstaller(t, source)
	in.Fetcher.StateDir = t.TempDir()
	request := lockhashes.Request{Requirements: require("acme/widget", "")}
	for i, from := range []event.State{event.Fetched, event.Recalled} {
		got := lockOne(t, in, request).Packages[0]
		if got.State != from || got.H1 != want || got.Authentication.TrustLevel != getproviders.LevelVerifiedChecksum {
			t.Errorf("run %d: %+v", i+1, got)
		}
	}
}

func TestInstall_RemembersArchivesForLock(t *testing.T) {
	registry, in := lockableRegistry(t, "widget")
	in.Fetcher.StateDir, in.Fetcher.Platform = t.TempDir(), linux
	req := require(widgetAddress, "")
	locks, _ := install(t, in, req, nil)
	must.Equal(t, lockOne(t, in, lockhashes.Request{Requirements: req, Locks: locks, Platforms: onLinux}).Packages[0].State, event.Recalled)
	must.Equal(t, registry.Requests("archive"), 1)
}

func TestLock_TellsOfEachPackage(t *testing.T) {
	_, in := lockableRegistry(t, "widget")
	var begun, fetched, done int
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		switch e.Kind {
		case event.Queued:
			begun += len(e.Packages)
		case event.Fetching:
			fetched++
		case event.Done:
			done++
		}
	}
	lockOne(t, in, lockhashes.Request{Requirements: require(widgetAddress, ""), AllPlatforms: true, Locks: new(depsfile.Locks)})
	must.EqualSlices(t, []int{begun, fetched, done}, []int{3, 3, 3})
}

func TestLock_WorksOnAllProvidersAndPlatformsAtOnce(t *testing.T) {
	_, in := lockableRegistry(t, "widget", "gadget")
	in.Fetcher.Source = installtest.Meeting(in.Fetcher.Source, 0, 6)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // so that a failing test ends
	defer cancel()
	result := installtest.First(in.Fetcher.Lock(ctx, lockhashes.Request{
		Requirements: require(widgetAddress, "", registryHost+"/acme/gadget", ""),
		Platforms:    everyPlatform.Platforms,
	}))
	if result.Err != nil || len(result.Packages) != 6 {
		t.Errorf("%d packages, %v", len(result.Packages), result.Err)
	}
}

// Not parallel: it changes the environment.
func TestLock_WritesNothing(t *testing.T) {
	registry, in := newRegistry(t)
	lockable(t, registry, "widget", "1.0.0")
	in.Target = nil
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(variable, filepath.Join(t.TempDir(), "nowhere"))
	}
	result := lock(t, in, lockhashes.Request{
		Requirements: require(widgetAddress, ""), AllPlatforms: true,
	})
	if result.Err != nil || len(result.Packages) != 3 {
		t.Errorf("%d packages, %v", len(result.Packages), result.Err)
	}
}
