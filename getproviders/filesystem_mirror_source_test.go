package getproviders

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// mirror makes a filesystem mirror. A name that ends with "/" is the directory of an unpacked
// package, "a -> b" is a symlink from a to b, any other is a file.
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
	t.Run("by a link", func(t *testing.T) {
		link, source := filepath.Join(t.TempDir(), "link"), mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/")
		want := must.Get(packageOf(t, source))(t).Location
		if err := must.Symlink(source.Dir, link); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		source.Dir = link
		must.Get(versionsOf(t, source))(t)
		got := must.Get(packageOf(t, source))(t)
		must.Equal(t, got.Location, want)
		must.Equal(t, got.Source, link)
	})
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

func TestFilesystemMirrorSource_SaysWhatElseThereIs(t *testing.T) {
	source := mirror(t,
		"registry.example/acme/widget/1.0.0/darwin_arm64/",
		"registry.example/acme/widget/terraform-provider-widget_1.0.0_darwin_arm64.zip",
		"registry.example/acme/widget/terraform-provider-widget_1.0.0_windows_386.zip",
		"registry.example/acme/widget/0.8.0/linux_amd64/",
		"registry.example/acme/widget/0.9.0/linux_amd64/",
		"registry.example/acme/widget/2.0.0-rc1/linux_amd64/",
	)
	_, err := packageOf(t, source)
	wantKind(t, err, ErrPlatformMissing)
	must.Equal(t, hint(err), "version 1.0.0 exists for darwin_arm64, windows_386; the newest version with a package for linux_amd64 is 0.9.0")
	_, err = source.Package(t.Context(), widget, version("3.0.0"), linux)
	wantKind(t, err, ErrVersionNotFound)
	must.Equal(t, hint(err), "the newest version there is 1.0.0")
}

func TestFilesystemMirrorSource_ThatIsNotThere(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), ""} {
		source := &FilesystemMirrorSource{Dir: dir}
		_, versionsErr := versionsOf(t, source)
		_, packageErr := packageOf(t, source)
		_, providersErr := source.Providers(t.Context())
		for _, err := range []error{versionsErr, packageErr, providersErr} {
			if !errors.Is(err, ErrUnreachable) || !strings.HasPrefix(err.Error(), "cannot search "+dir+": ") {
				t.Errorf("%q: err = %v, want one that is ErrUnreachable and names the directory", dir, err)
			}
			must.Equal(t, errors.Is(err, fs.ErrNotExist), true, dir)
		}
	}
	t.Run("a file has no packages", func(t *testing.T) {
		source := &FilesystemMirrorSource{Dir: filepath.Join(t.TempDir(), "file")}
		must.Succeed(t, os.WriteFile(source.Dir, nil, 0o666))
		_, versionsErr := versionsOf(t, source)
		_, packageErr := packageOf(t, source)
		for _, err := range []error{versionsErr, packageErr} {
			wantKind(t, err, ErrProviderNotFound)
			must.Contain(t, hint(err), "it is not a directory")
		}
		_, err := source.Providers(t.Context())
		must.Fail(t, err, ErrUnreachable)
	})
	t.Run("unreadable, but for what is asked for", func(t *testing.T) {
		for mode, dirs := range map[fs.FileMode][]string{
			0o111: {"", "registry.example", "registry.example/acme"},
			0:     {"registry.example", "registry.example/acme/widget", "registry.example/acme/widget/1.0.0"},
		} {
			for _, dir := range dirs {
				source := mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/")
				forbidden := filepath.Join(source.Dir, dir)
				must.Succeed(t, os.Chmod(forbidden, mode))
				t.Cleanup(func() { _ = os.Chmod(forbidden, 0o777) })
				if _, err := os.ReadDir(forbidden); err == nil {
					t.Skip("directories can't be made unreadable for this user, or on this system")
				}
				_, err := versionsOf(t, source)
				must.Equal(t, errors.Is(err, ErrUnreachable) && errors.Is(err, fs.ErrPermission), mode == 0, dir, err)
				if mode != 0 {
					must.Get(packageOf(t, source))(t, dir)
					must.Fail(t, must.ErrorOf(source.Providers(t.Context())), fs.ErrPermission, dir)
				}
			}
		}
	})
}

// TestFilesystemMirrorSource_OfThousandsCostsAsMuchAsASmallOne counts allocations: reading a
// directory allocates for each of its entries.
func TestFilesystemMirrorSource_OfThousandsCostsAsMuchAsASmallOne(t *testing.T) {
	own := []string{
		"registry.example/acme/widget/1.0.0/linux_amd64/",
		"registry.example/acme/widget/terraform-provider-widget_1.1.0_linux_amd64.zip",
	}
	others := own
	for i := range 50 {
		others = append(others,
			fmt.Sprintf("registry.example/acme/other%d/1.0.0/linux_amd64/", i),
			fmt.Sprintf("registry.example/acme/packed/terraform-provider-packed_1.%d.0_linux_amd64.zip", i),
			fmt.Sprintf("registry.example/ns%d/widget/1.0.0/linux_amd64/", i),
			fmt.Sprintf("host%d.example/acme/widget/1.0.0/linux_amd64/", i),
		)
	}
	small, large := mirror(t, own...), mirror(t, others...)
	for name, ask := range map[string]func(source Source) error{
		"Versions":         func(source Source) error { _, err := versionsOf(t, source); return err },
		"Package":          func(source Source) error { return packageFrom(t, source, "1.0.0") },
		"Package, packed":  func(source Source) error { return packageFrom(t, source, "1.1.0") },
		"Package, missing": func(source Source) error { return packageFrom(t, source, "2.0.0") },
	} {
		// Goroutines of other tests may allocate, too: the smallest count is the right one.
		cost := func(source Source) (least float64) {
			for i := range 3 {
				allocations := testing.AllocsPerRun(5, func() {
					if err := ask(source); err != nil && !errors.Is(err, ErrVersionNotFound) {
						t.Fatal(err)
					}
				})
				if i == 0 || allocations < least {
					least = allocations
				}
			}
			return least
		}
		// Each directory that the source doesn't need has 50 entries.
		if few, many := cost(small), cost(large); many > few+25 {
			t.Errorf("%s: %.0f allocations in a mirror of two packages, %.0f in one of two hundred", name, few, many)
		}
	}
}

func packageFrom(t *testing.T, source Source, text string) error {
	t.Helper()
	_, err := source.Package(t.Context(), widget, version(text), linux)
	return err
}
