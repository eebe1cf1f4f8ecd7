package getproviders

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// mirror makes a filesystem mirror. A name that ends in "/" is an unpacked
// package's directory, "a -> b" is a link from a to b, any other is a file.
func mirror(t *testing.T, names ...string) *FilesystemMirrorSource {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for _, name := range names {
		must.Succeed(t, makeEntry(dir, name))
	}
	return &FilesystemMirrorSource{Dir: dir}
}

func makeEntry(dir, name string) error {
	name, target, isLink := strings.Cut(name, " -> ")
	path := filepath.Join(dir, name)
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(path, 0o777)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if isLink {
		return os.Symlink(filepath.FromSlash(target), path)
	}
	return os.WriteFile(path, []byte("zip"), 0o666)
}

// skipWithoutLinks skips the test where making a link takes a privilege.
func skipWithoutLinks(t *testing.T) {
	t.Helper()
	if err := must.Symlink("x", filepath.Join(t.TempDir(), "link")); err != nil {
		t.Skipf("can't make symbolic links here: %v", err)
	}
}

func TestFilesystemMirrorSource_Versions(t *testing.T) {
	for name, test := range map[string]struct {
		tree []string
		want []Version
	}{
		"unpacked and packed, of all platforms": {
			tree: []string{
				"registry.example/acme/widget/1.10.0/linux_amd64/",
				"registry.example/acme/widget/1.10.0/darwin_arm64/",
				"registry.example/acme/widget/terraform-provider-widget_1.10.0_linux_amd64.zip",
				"registry.example/acme/widget/terraform-provider-widget_1.9.0_windows_386.zip",
				"registry.example/acme/widget/2.0.0-beta1/plan9_arm/",
			},
			want: versions("1.9.0", "1.10.0", "2.0.0-beta1"),
		},
		"directories in several cases": {
			tree: []string{"registry.example/ACME/widget/1.0.0/linux_amd64/", "registry.example/Acme/WIDGET/1.1.0/linux_amd64/"},
			want: versions("1.0.0", "1.1.0"),
		},
		"a namespace that has it in another case only": {
			tree: []string{"registry.example/acme/other/1.0.0/linux_amd64/", "registry.example/ACME/widget/1.1.0/linux_amd64/"},
			want: versions("1.1.0"),
		},
		"nothing that is named otherwise": {
			tree: []string{
				"registry.example/acme/widget/1.0.0/linux_amd64/",
				"registry.example/acme/widget/v2.0.0/linux_amd64/",
				"registry.example/acme/widget/2.1.0/linux/",
				"registry.example/acme/widget/2.2.0/linux_amd64", // a file
				"registry.example/acme/widget/2.3.0/",
				"registry.example/acme/widget/2.4.0",
				"registry.example/acme/widget/terraform-provider-gadget_3.0.0_linux_amd64.zip",
				"registry.example/acme/widget/terraform-provider-widget_3.1.0_linux_amd64.zip/",
				"registry.example/acme/widget/terraform-provider-widget_3.2.0.zip",
				"registry.example/acme/4.0.0/linux_amd64/",
				"registry.example/acme/terraform-provider-widget_4.1.0_linux_amd64.zip",
				"other.example/acme/widget/5.0.0/linux_amd64/",
			},
			want: versions("1.0.0"),
		},
	} {
		must.DeepEqual(t, must.Get(versionsOf(t, mirror(t, test.tree...)))(t, name), Available{Versions: test.want}, name)
	}
}

func TestFilesystemMirrorSource_MayBeALink(t *testing.T) {
	skipWithoutLinks(t)
	link := filepath.Join(t.TempDir(), "link")
	at := mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/").Dir
	must.Succeed(t, os.Symlink(at, link))
	source := &FilesystemMirrorSource{Dir: link}
	must.Get(versionsOf(t, source))(t)
	got := must.Get(packageOf(t, source))(t)
	must.Equal(t, got.Location.String(), filepath.Join(at, "registry.example", "acme", "widget", "1.0.0", "linux_amd64"))
	must.Equal(t, got.Source, link)
}

func TestFilesystemMirrorSource_Package(t *testing.T) {
	const packed = "registry.example/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip"
	const upper = "registry.example/acme/widget/TERRAFORM-PROVIDER-WIDGET_1.0.0_LINUX_AMD64.ZIP"
	for name, test := range map[string]struct {
		tree []string
		dir  string
		file string
	}{
		"unpacked":                   {tree: []string{"registry.example/acme/widget/1.0.0/linux_amd64/"}, dir: "registry.example/acme/widget/1.0.0/linux_amd64"},
		"packed":                     {tree: []string{packed}, file: packed},
		"unpacked before packed":     {tree: []string{packed, "registry.example/acme/widget/1.0.0/linux_amd64/"}, dir: "registry.example/acme/widget/1.0.0/linux_amd64"},
		"odd unpacked before packed": {tree: []string{packed, "registry.example/acme/widget/1.0/linux_amd64/"}, dir: "registry.example/acme/widget/1.0/linux_amd64"},
		"exact before odd":           {tree: []string{"registry.example/acme/widget/1.0/linux_amd64/", "registry.example/acme/widget/1.0.0/linux_amd64/"}, dir: "registry.example/acme/widget/1.0.0/linux_amd64"},
		"archive in another case":    {tree: []string{upper}, file: upper},
	} {
		t.Run(name, func(t *testing.T) {
			source := mirror(t, test.tree...)
			got := must.Get(packageOf(t, source))(t)
			var want Location = LocalDirectory(filepath.Join(source.Dir, test.dir))
			if test.file != "" {
				want = LocalArchive(filepath.Join(source.Dir, test.file))
			}
			origin := must.Get(source.Describe(widget).SourceURL(t.Context(), widget, v1, linux))(t)
			must.Equal(t, strings.HasPrefix(origin, source.Dir), test.file != "", origin)
			must.Equal(t, got.Trust.Load != nil, test.file != "")
			got.Trust = Trust{}
			must.DeepEqual(t, got, Package{Provider: widget, Version: v1, Platform: linux, Location: want, Source: source.Dir, SourceURL: origin})
		})
	}
}

func TestFilesystemMirrorSource_Providers(t *testing.T) {
	source := mirror(t,
		"registry.terraform.io/hashicorp/null/terraform-provider-null_1.0.0_linux_amd64.zip",
		"registry.terraform.io/-/legacy/1.0.0/linux_amd64/",
		"registry.example/acme/widget/1.0.0/linux_amd64/",
		"registry.example/ACME/Gadget/1.0.0/linux_amd64/",
		"registry.example/acme/empty/1.0.0/",
		"registry.example/-/legacy/1.0.0/linux_amd64/",
		"registry.example/a--b/widget/1.0.0/linux_amd64/",
		"xn--p1ai/acme/widget/1.0.0/linux_amd64/",
		"испытание/acme/widget/1.0.0/linux_amd64/",
		"README.md",
	)
	got := must.Get(source.Providers(t.Context()))(t)
	must.Equal(t, fmt.Sprint(got), "[registry.example/acme/gadget registry.example/acme/widget registry.terraform.io/-/legacy registry.terraform.io/hashicorp/null испытание/acme/widget]")
	for _, p := range got {
		must.Get(source.Versions(t.Context(), p))(t, p)
	}
}
