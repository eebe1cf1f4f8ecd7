package getproviders_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMemoize_AsksOnceForEachThing(t *testing.T) {
	var asked []string
	source := getproviders.Memoize(stub{
		name: "a", asked: &asked,
		available: getproviders.Available{Versions: versions("1.0.0"), Warnings: []string{"old"}},
	})
	other := widget
	other.Type = "other"
	for range 2 {
		for _, p := range []getproviders.Provider{widget, other} {
			got, err := source.Versions(t.Context(), p)
			if err != nil || !slices.Equal(got.Versions, versions("1.0.0")) || !slices.Equal(got.Warnings, []string{"old"}) {
				t.Fatalf("got %v, %v", got, err)
			}
			got.Versions[0], got.Warnings[0] = getproviders.Version{}, "changed" // the caller's own
		}
		for _, v := range versions("1.0.0", "2.0.0") {
			must.Equal(t, must.Get(source.Package(t.Context(), widget, v, linux))(t).Version, v)
		}
	}
	must.Len(t, asked, 4)
	must.Equal(t, source.Describe(widget).Name, "a")
}

func TestMemoize_ForgetsFailures(t *testing.T) {
	var asked []string
	source := getproviders.Memoize(stub{name: "a", asked: &asked, err: errFailed})
	for range 2 {
		for query, ask := range queries(source) {
			must.Equal(t, ask(t.Context()), errFailed, query)
		}
	}
	must.Len(t, asked, 4)
}

func TestMemoize_EndsWithTheContext(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for query, ask := range queries(getproviders.Memoize(stub{name: "a", err: errNoProvider})) {
		must.Equal(t, ask(ctx), gone, query)
	}
}

func TestMemoize_SuggestsWhatTheSourceSuggests(t *testing.T) {
	suggesting := getproviders.Memoize(stub{name: "a", suggests: widget})
	if got, ok := suggesting.Describe(widget).Suggest(t.Context(), widget); !ok || got != widget {
		t.Errorf("got %s, %t", got, ok)
	}
	silent := getproviders.Memoize(&getproviders.FilesystemMirrorSource{})
	if silent.Describe(widget).Suggest != nil {
		t.Error("a source that knows nothing suggests")
	}
}

// TestMemoize_MirrorIsSharedBySelectors: a mirror that is configured twice, for different
// providers, is asked once.
func TestMemoize_MirrorIsSharedBySelectors(t *testing.T) {
	fake := newFakeRegistry(t, map[string]answer{
		indexPath:   inJSON(goodIndex),
		versionPath: inJSON(`{"archives": {"darwin_arm64": {"url": "w.zip"}}}`),
	})
	mirror := getproviders.Memoize(fake.mirrorAt(t, mirrorBase))
	source := getproviders.MultiSource{Selectors: []getproviders.Selector{{Source: mirror}, {Source: mirror}}}
	must.Get(versionsOf(t, source))(t)
	for range 2 {
		must.Get(source.Package(t.Context(), widget, v1, getproviders.Platform{OS: "darwin", Arch: "arm64"}))(t)
	}
	for _, path := range []string{indexPath, versionPath} {
		must.Equal(t, fake.requests(path), 1, path)
	}
}
