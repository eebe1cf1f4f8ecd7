package cliconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestFind_ForOpenTofu has files in a home directory, and which of them count.
func TestFind_ForOpenTofu(t *testing.T) {
	for _, tc := range []struct {
		name, goos, xdg string
		there           string // in the home; those that end in a slash are directories
		file, dir       string
	}{
		{"nothing", "linux", "", "", ".tofurc", ".terraform.d"},
		{"its own", "linux", "", ".tofurc .terraformrc", ".tofurc", ".terraform.d"},
		{"its predecessor's", "linux", "", ".terraformrc", ".terraformrc", ".terraform.d"},
		{"nothing, with XDG", "linux", "xdg", "", "xdg/opentofu/tofurc", "xdg/opentofu"},
		{"its own, with XDG", "darwin", "xdg", ".tofurc xdg/opentofu/tofurc", ".tofurc", "xdg/opentofu"},
		{"its predecessor's, with XDG", "linux", "xdg", ".terraformrc xdg/opentofu/tofurc", ".terraformrc", "xdg/opentofu"},
		{"directory, with XDG", "linux", "xdg", ".terraform.d/ xdg/opentofu/tofurc", "xdg/opentofu/tofurc", ".terraform.d"},
		{"Windows", "windows", "xdg", "", "tofu.rc", "terraform.d"},
		{"Windows, its predecessor's", "windows", "", "terraform.rc", "terraform.rc", "terraform.d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			home := t.TempDir()
			for name := range strings.FieldsSeq(tc.there) {
				path := filepath.Join(home, filepath.FromSlash(name))
				if name[len(name)-1] == '/' {
					must.Succeed(t, os.MkdirAll(path, 0o700))
					continue
				}
				must.Write(t, path, "")
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
