package getproviders_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestFilesystemMirrorSource_SaysWhatElseThereIs(t *testing.T) {
	source := mirror(t,
		"registry.example/acme/widget/1.0.0/darwin_arm64/",
		"registry.example/acme/widget/terraform-provider-widget_1.0.0_darwin_arm64.zip",
		"registry.example/acme/widget/terraform-provider-widget_1.0.0_windows_386.zip",
		"registry.example/acme/widget/0.8.0/linux_amd64/",
		"registry.example/acme/widget/0.9.0/linux_amd64/",
		"registry.example/acme/widget/2.0.0-rc1/linux_amd64/",
	)
	_, err := source.Package(t.Context(), widget, version("1.0.0"), linux)
	if !errors.Is(err, getproviders.ErrPlatformMissing) || errors.Is(err, getproviders.ErrVersionNotFound) {
		t.Errorf("err = %v, want one that is ErrPlatformMissing", err)
	}
	if want := "version 1.0.0 exists for darwin_arm64, windows_386; the newest version with a package for linux_amd64 is 0.9.0"; hint(err) != want {
		t.Errorf("hint %q, want %q", hint(err), want)
	}
	_, err = source.Package(t.Context(), widget, version("3.0.0"), linux)
	if !errors.Is(err, getproviders.ErrVersionNotFound) || errors.Is(err, getproviders.ErrPlatformMissing) {
		t.Errorf("err = %v, want one that is ErrVersionNotFound", err)
	}
	if want := "the newest version there is 1.0.0"; hint(err) != want {
		t.Errorf("hint %q, want %q", hint(err), want)
	}
}

func TestFilesystemMirrorSource_ThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o666))
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), file, ""} {
		source := &getproviders.FilesystemMirrorSource{Dir: dir}
		_, versionsErr := source.Versions(t.Context(), widget)
		_, packageErr := source.Package(t.Context(), widget, version("1.0.0"), linux)
		_, providersErr := source.Providers(t.Context())
		for _, err := range []error{versionsErr, packageErr, providersErr} {
			if !errors.Is(err, getproviders.ErrUnreachable) || !strings.HasPrefix(err.Error(), "cannot search "+dir+": ") {
				t.Errorf("%q: err = %v, want one that is ErrUnreachable and names the directory", dir, err)
			}
			if missing := dir != file; errors.Is(err, fs.ErrNotExist) != missing {
				t.Errorf("%q: err = %v; fs.ErrNotExist should be %t", dir, err, missing)
			}
		}
	}
}

// TestFilesystemMirrorSource_ReadsOneProvidersDirectory makes all other directories unreadable.
func TestFilesystemMirrorSource_ReadsOneProvidersDirectory(t *testing.T) {
	source := mirror(t,
		"registry.example/acme/widget/1.0.0/linux_amd64/",
		"registry.example/acme/other/1.0.0/linux_amd64/",
		"registry.example/other/widget/1.0.0/linux_amd64/",
		"other.example/acme/widget/1.0.0/linux_amd64/",
	)
	forbid(t, source.Dir, 0o111)
	forbid(t, filepath.Join(source.Dir, "registry.example"), 0o111)
	forbid(t, filepath.Join(source.Dir, "registry.example", "acme"), 0o111)
	if _, err := source.Versions(t.Context(), widget); err != nil {
		t.Errorf("Versions: %v", err)
	}
	if _, err := source.Package(t.Context(), widget, version("1.0.0"), linux); err != nil {
		t.Errorf("Package: %v", err)
	}
	if _, err := source.Providers(t.Context()); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Providers: %v, want fs.ErrPermission", err)
	}
}

func TestFilesystemMirrorSource_ThatCannotBeReadIsAnError(t *testing.T) {
	for _, dir := range []string{"registry.example/acme/widget", "registry.example/acme/widget/1.0.0", "registry.example"} {
		source := mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/")
		forbid(t, filepath.Join(source.Dir, filepath.FromSlash(dir)), 0)
		_, err := source.Versions(t.Context(), widget)
		if !errors.Is(err, getproviders.ErrUnreachable) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: err = %v, want one that is ErrUnreachable and fs.ErrPermission", dir, err)
		}
	}
}

// forbid changes the mode of a directory until the test ends.
func forbid(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	must.Succeed(t, os.Chmod(dir, mode))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o777) })
	if _, err := os.ReadDir(dir); err == nil {
		t.Skip("directories can't be made unreadable for this user, or on this system")
	}
}

func TestFilesystemMirrorSource_SearchEndsWithTheContext(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	source := mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/")
	if _, err := source.Versions(ctx, widget); err != gone {
		t.Errorf("Versions: %v, want the context's cause", err)
	}
	if _, err := source.Providers(ctx); err != gone {
		t.Errorf("Providers: %v, want the context's cause", err)
	}
}
