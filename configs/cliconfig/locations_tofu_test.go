package cliconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestFind_ForOpenTofu has files in a home directory, and which of them count.
func TestFind_ForOpenTofu(t *testing.T) {
	for _, tc := range []struct {
		name, goos, xdg string
		there           []string // in the home; those that end in a slash are directories
		file, dir       string
	}{
		{"nothing", "linux", "", nil, ".tofurc", ".terraform.d"},
		{"its own", "linux", "", []string{".tofurc", ".terraformrc"}, ".tofurc", ".terraform.d"},
		{"its predecessor's", "linux", "", []string{".terraformrc"}, ".terraformrc", ".terraform.d"},
		{"nothing, with XDG", "linux", "xdg", nil, "xdg/opentofu/tofurc", "xdg/opentofu"},
		{"its own, with XDG", "darwin", "xdg", []string{".tofurc", "xdg/opentofu/tofurc"}, ".tofurc", "xdg/opentofu"},
		{"its predecessor's, with XDG", "linux", "xdg", []string{".terraformrc", "xdg/opentofu/tofurc"}, ".terraformrc", "xdg/opentofu"},
		{"directory, with XDG", "linux", "xdg", []string{".terraform.d/", "xdg/opentofu/tofurc"}, "xdg/opentofu/tofurc", ".terraform.d"},
		{"Windows", "windows", "xdg", nil, "tofu.rc", "terraform.d"},
		{"Windows, its predecessor's", "windows", "", []string{"terraform.rc"}, "terraform.rc", "terraform.d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := t.TempDir()
			for _, name := range tc.there {
				path := filepath.Join(home, filepath.FromSlash(name))
				must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
				if name[len(name)-1] == '/' {
					must.Succeed(t, os.MkdirAll(path, 0o700))
				} else if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := variables{"APPDATA": home}
			if tc.xdg != "" {
				env["XDG_CONFIG_HOME"] = filepath.Join(home, tc.xdg)
			}
			want := Locations{File: filepath.Join(home, filepath.FromSlash(tc.file)), Dir: filepath.Join(home, filepath.FromSlash(tc.dir))}
			must.Equal(t, Find(env.user(home, tc.goos), getproviders.OpenTofu("1.12.6")), want)
		})
	}
}

func TestImpliedMirrorDirs_OfOpenTofu(t *testing.T) {
	for _, tc := range []struct {
		env  variables
		goos string
		want []string
	}{
		{nil, "linux", []string{"terraform.d/plugins", "/home/u/.terraform.d/plugins", "/home/u/.local/share/terraform/plugins",
			"/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins"}},
		{variables{"XDG_DATA_HOME": "/data", "XDG_DATA_DIRS": "/a"}, "linux", []string{"terraform.d/plugins", "/home/u/.terraform.d/plugins",
			"/data/opentofu/plugins", "/data/terraform/plugins", "/a/terraform/plugins"}},
	} {
		var got []string
		for _, dir := range ImpliedMirrorDirs(tc.env.user("/home/u", tc.goos), getproviders.OpenTofu("1.12.6")) {
			got = append(got, filepath.ToSlash(dir))
		}
		must.EqualSlices(t, got, tc.want)
	}
}
