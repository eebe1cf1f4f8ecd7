package getproviders

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

func TestPlatforms_OfAMirror(t *testing.T) {
	full := mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/", "registry.example/acme/widget/1.0.0/darwin_arm64/", "registry.example/acme/widget/2.0.0/linux_amd64/",
		"registry.example/acme/widget/terraform-provider-widget_1.0.0_windows_386.zip")
	empty := &FilesystemMirrorSource{Dir: t.TempDir()}
	want := []Platform{{OS: "darwin", Arch: "arm64"}, linux, {OS: "windows", Arch: "386"}}
	for name, source := range map[string]Source{
		"mirror":   full,
		"memoized": Memoize(full),
		"wrapped":  struct{ Source }{full},
		"second":   MultiSource{Selectors: []Selector{{Source: empty}, {Source: full}}},
	} {
		must.EqualSlices(t, must.Get(source.Describe(widget).Platforms(t.Context(), widget, v1))(t), want, name)
		must.Fail(t, must.ErrorOf(source.Describe(widget).Platforms(t.Context(), widget, version("3.0.0"))), ErrVersionNotFound, name)
	}
	silent := MultiSource{Selectors: []Selector{{Source: empty}, {Source: stub{}}, {Source: full}}}
	must.Len(t, must.Get(silent.Describe(widget).Platforms(t.Context(), widget, v1))(t), 0, "a source that doesn't tell")
}
