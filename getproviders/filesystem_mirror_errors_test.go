package getproviders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	_, err := packageOf(t, source)
	wantKind(t, err, ErrPlatformMissing)
	must.Equal(t, hint(err), "version 1.0.0 exists for darwin_arm64, windows_386; the newest version with a package for linux_amd64 is 0.9.0")
	_, err = source.Package(t.Context(), widget, version("3.0.0"), linux)
	wantKind(t, err, ErrVersionNotFound)
	must.Equal(t, hint(err), "the newest version there is 1.0.0")
}

func TestFilesystemMirrorSource_ThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o666))
	for _, dir := range []string{filepath.Join(t.TempDir(), "missing"), file, ""} {
		source := &FilesystemMirrorSource{Dir: dir}
		_, versionsErr := versionsOf(t, source)
		_, packageErr := packageOf(t, source)
		_, providersErr := source.Providers(t.Context())
		for _, err := range []error{versionsErr, packageErr, providersErr} {
			if !errors.Is(err, ErrUnreachable) || !strings.HasPrefix(err.Error(), "cannot search "+dir+": ") {
				t.Errorf("%q: err = %v, want one that is ErrUnreachable and names the directory", dir, err)
			}
			must.Equal(t, errors.Is(err, fs.ErrNotExist), dir != file, dir)
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
	must.Get(versionsOf(t, source))(t)
	must.Get(packageOf(t, source))(t)
	must.Fail(t, must.ErrorOf(source.Providers(t.Context())), fs.ErrPermission)
}

func TestFilesystemMirrorSource_ThatCannotBeReadIsAnError(t *testing.T) {
	for _, dir := range []string{"registry.example/acme/widget", "registry.example/acme/widget/1.0.0", "registry.example"} {
		source := mirror(t, "registry.example/acme/widget/1.0.0/linux_amd64/")
		forbid(t, filepath.Join(source.Dir, dir), 0)
		_, err := versionsOf(t, source)
		must.Fail(t, err, ErrUnreachable, dir)
		must.Fail(t, err, fs.ErrPermission, dir)
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
