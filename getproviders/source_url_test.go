package getproviders

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// placed is a stub with source URLs of packages.
type placed struct {
	stub
	sourceURL string
}

func (p placed) Describe(Provider) Description {
	return Description{SourceURL: func(context.Context, Provider, Version, Platform) (string, error) {
		return p.sourceURL, p.err
	}}
}

func TestSourceURL_IsThatOfTheFirstSourceThatListsTheVersion(t *testing.T) {
	lists := Available{Versions: versions("1.0.0")}
	type sources = []Source
	for name, test := range map[string]struct {
		sources  sources
		fallback Fallback
		want     string
		err      error
	}{
		"the first":                    {sources: sources{placed{sourceURL: "a"}, placed{sourceURL: "b"}}, want: "a"},
		"the first lacks it":           {sources: sources{placed{stub: stub{err: errNoVersion}}, placed{sourceURL: "b"}}, want: "b"},
		"the first fails":              {sources: sources{placed{stub: stub{err: errFailed}}, placed{sourceURL: "b"}}, err: errFailed},
		"the first is skipped":         {sources: sources{placed{stub: stub{err: errFailed}}, placed{sourceURL: "b"}}, fallback: NextOnFailure, want: "b"},
		"the first can't tell":         {sources: sources{stub{available: lists}, placed{sourceURL: "b"}}},
		"one that can't tell lacks it": {sources: sources{stub{}, placed{sourceURL: "b"}}, want: "b"},
		"nobody has it":                {sources: sources{stub{}, stub{err: errNoProvider}}, err: ErrVersionNotFound},
	} {
		source := MultiSource{Fallback: test.fallback}
		for _, s := range test.sources {
			source.Selectors = append(source.Selectors, Selector{Source: s})
		}
		for _, asked := range []Source{source, Memoize(source)} {
			got, err := asked.Describe(widget).SourceURL(t.Context(), widget, v1, linux)
			must.Equal(t, got, test.want, name)
			must.Fail(t, err, test.err, name)
		}
	}
}

func TestSourceURL_OfARegistryIsItsService(t *testing.T) {
	fake := newFakeRegistry(t, pages{versionsPath: "403"})
	source := fake.source(t)
	must.Fail(t, must.ErrorOf(source.Describe(widget).SourceURL(t.Context(), widget, v1, linux)), ErrUnauthorized)
	fake.answers[versionsPath] = `{"versions":[{"version":"1.0.0","platforms":[{"os":"linux","arch":"amd64"}]}]}`
	must.Equal(t, must.Get(source.Describe(widget).SourceURL(t.Context(), widget, v1, linux))(t), fake.URL+"/v1/")
	must.Fail(t, must.ErrorOf(source.Describe(widget).SourceURL(t.Context(), widget, version("2.0.0"), linux)), ErrVersionNotFound)
	must.Fail(t, must.ErrorOf(source.Describe(widget).SourceURL(t.Context(), widget, v1, Platform{OS: "plan9", Arch: "arm"})), ErrPlatformMissing)
}

func TestSourceURL_OfAFileIsAnotherOneWhenTheFileIs(t *testing.T) {
	const packed = "registry.example/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip"
	source := mirror(t, packed)
	seen := map[string]bool{"": true}
	for at := range int64(2) {
		must.Succeed(t, os.Chtimes(filepath.Join(source.Dir, packed), time.Time{}, time.Unix(at+1, 0)))
		now := must.Get(source.Describe(widget).SourceURL(t.Context(), widget, v1, linux))(t)
		must.Equal(t, seen[now], false, now)
		seen[now] = true
	}
}
