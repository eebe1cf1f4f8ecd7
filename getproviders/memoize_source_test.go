package getproviders

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestMemoize_AsksOnceForEachThing(t *testing.T) {
	var asked []string
	source := Memoize(stub{
		name: "a", asked: &asked,
		available: Available{Versions: versions("1.0.0"), Warnings: []string{"old"}},
	})
	other := widget
	other.Type = "other"
	for range 2 {
		for _, p := range []Provider{widget, other} {
			got := must.Get(source.Versions(t.Context(), p))(t)
			must.EqualSlices(t, got.Versions, versions("1.0.0"))
			must.EqualSlices(t, got.Warnings, []string{"old"})
			got.Versions[0], got.Warnings[0] = Version{}, "changed" // the caller's own
		}
		for _, v := range versions("1.0.0", "2.0.0") {
			must.Equal(t, must.Get(source.Package(t.Context(), widget, v, linux))(t).Version, v)
		}
	}
	must.Len(t, asked, 4)
	must.Equal(t, source.Describe(widget).Name, "a")
}

func TestMemoize_SuggestsWhatTheSourceSuggests(t *testing.T) {
	suggesting := Memoize(stub{name: "a", suggests: widget})
	if got, ok := suggesting.Describe(widget).Suggest(t.Context(), widget); !ok || got != widget {
		t.Errorf("got %s, %t", got, ok)
	}
	silent := Memoize(&FilesystemMirrorSource{})
	if silent.Describe(widget).Suggest != nil {
		t.Error("a source that knows nothing suggests")
	}
}

func TestMemoize_ForgetsFailures(t *testing.T) {
	var asked []string
	source := Memoize(stub{name: "a", asked: &asked, err: errFailed})
	for range 2 {
		for query, ask := range queries(source) {
			must.Equal(t, ask(t.Context()), errFailed, query)
		}
	}
	must.Len(t, asked, 4)
}

// counted is a source that counts its calls.
type counted struct{ versions, packages int }

func (c *counted) Versions(context.Context, Provider) (Available, error) {
	c.versions++
	return Available{Versions: []Version{{Major: 1}}}, nil
}

func (c *counted) Package(context.Context, Provider, Version, Platform) (Package, error) {
	c.packages++
	return Package{}, nil
}

func (c *counted) Describe(Provider) Description { return Description{Name: "counted"} }

func TestMemoize_AsksAgainWhenAnswersAreOld(t *testing.T) {
	for _, c := range []struct {
		passed time.Duration
		want   int
	}{{14 * time.Minute, 1}, {16 * time.Minute, 2}} {
		synctest.Test(t, func(t *testing.T) {
			asked := new(counted)
			source := Memoize(asked)
			for range 2 {
				must.Get(source.Versions(t.Context(), Provider{}))(t)
				must.Get(source.Package(t.Context(), Provider{}, Version{}, Platform{}))(t)
				time.Sleep(c.passed)
			}
			must.Equal(t, *asked, counted{c.want, c.want}, c.passed)
		})
	}
}
