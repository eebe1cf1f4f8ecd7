package getproviders

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestSource_EndsWithTheContext(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	fake, dir := newFakeRegistry(t, nil), mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/")
	stop, asked := inOrder(lacks("a", gone), stub{name: "b"})
	next := stop
	next.Fallback = NextOnFailure
	for name, source := range map[string]Source{
		"memoized": Memoize(stub{err: errNoProvider}), "first": stop, "next": next, "network": fake.mirrorAt(t, mirrorBase), "registry": fake.source(t),
	} {
		*asked = nil
		for query, ask := range queries(source) {
			must.Equal(t, ask(ctx), gone, name, query)
		}
		must.NotContain(t, strings.Join(*asked, ""), "b", name)
	}
	must.Equal(t, must.ErrorOf(dir.Versions(ctx, widget)), gone)
	must.Equal(t, Available{}.missing(ctx, nil, Subject{}), gone)
	must.Equal(t, must.ErrorOf(dir.Providers(ctx)), gone)
}

// TestSource_RemembersAnswersAndNoFailures: hints that need the list of versions make no request, either.
func TestSource_RemembersAnswersAndNoFailures(t *testing.T) {
	fake := newFakeRegistry(t, pages{})
	for path, test := range map[string]struct {
		source Source
		list   string
	}{
		indexPath:    {fake.mirrorAt(t, mirrorBase), goodIndex},
		versionsPath: {fake.source(t), `{"versions": [{"version": "1.0.0"}], "warnings": ["old"]}`},
	} {
		fake.answers[path] = "403"
		for range 2 {
			must.Fail(t, must.ErrorOf(versionsOf(t, test.source)), ErrUnauthorized, path)
		}
		must.Equal(t, fake.requests(path), 2, path)
		fake.answers[path] = test.list
		for range 2 {
			got := must.Get(versionsOf(t, test.source))(t, path)
			must.EqualSlices(t, got.Versions, versions("1.0.0"), path)
			got.Versions[0] = Version{} // the caller's own
			for i := range got.Warnings {
				must.Equal(t, got.Warnings[i], "old")
				got.Warnings[i] = "changed"
			}
			must.Fail(t, must.ErrorOf(test.source.Package(t.Context(), widget, version("3.0.0"), linux)), ErrVersionNotFound, path)
		}
		must.Equal(t, fake.requests(path), 3, path)
	}
	mirror, absent := fake.mirrorAt(t, mirrorBase), mustParse(t, "registry.example/acme/absent")
	for range 2 {
		must.Fail(t, must.ErrorOf(mirror.Versions(t.Context(), absent)), ErrProviderNotFound)
	}
	must.Equal(t, fake.requests(strings.Replace(indexPath, "widget", "absent", 1)), 1)
}
