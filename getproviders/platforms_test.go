package getproviders_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestPlatforms_OfAMirror(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := filepath.Join(dir, "registry.terraform.io", "acme", "widget")
	for _, path := range []string{"1.0.0/linux_amd64", "1.0.0/darwin_arm64", "2.0.0/linux_amd64"} {
		must.Succeed(t, os.MkdirAll(filepath.Join(base, path), 0o755))
	}
	must.Succeed(t, os.WriteFile(filepath.Join(base, "terraform-provider-widget_1.0.0_windows_386.zip"), nil, 0o600))
	p := must.Get(getproviders.Terraform("1.15.9").ParseProvider("acme/widget"))(t)
	mirror := &getproviders.FilesystemMirrorSource{Dir: dir}
	empty := &getproviders.FilesystemMirrorSource{Dir: t.TempDir()}
	want := []getproviders.Platform{{OS: "darwin", Arch: "arm64"}, {OS: "linux", Arch: "amd64"}, {OS: "windows", Arch: "386"}}
	for name, source := range map[string]getproviders.Source{
		"mirror":   mirror,
		"memoized": getproviders.Memoize(mirror),
		"wrapped":  struct{ getproviders.Source }{mirror},
		"second":   getproviders.MultiSource{Selectors: []getproviders.Selector{{Source: empty}, {Source: mirror}}},
	} {
		must.EqualSlices(t, must.Get(source.Describe(p).Platforms(t.Context(), p, v1))(t), want, name)
		must.Fail(t, must.ErrorOf(source.Describe(p).Platforms(t.Context(), p, getproviders.MustParseVersion("3.0.0"))), getproviders.ErrVersionNotFound, name)
	}
	silent := getproviders.MultiSource{Selectors: []getproviders.Selector{{Source: empty}, {Source: stub{}}, {Source: mirror}}}
	if got, err := silent.Describe(p).Platforms(t.Context(), p, v1); got != nil || err != nil {
		t.Errorf("a source that doesn't tell: %v, %v", got, err)
	}
}
