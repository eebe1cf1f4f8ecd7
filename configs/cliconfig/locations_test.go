package cliconfig

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// variables is an environment.
type variables map[string]string

// user has these variables.
func (v variables) user(home, goos string) User {
	u := User{HomeDir: home, GOOS: goos}
	for name, value := range v {
		u.Environ = append(u.Environ, name+"="+value)
	}
	return u
}

func TestFind(t *testing.T) {
	unix := Locations{File: "/home/u/.terraformrc", Dir: "/home/u/.terraform.d"}
	for _, tc := range []struct {
		name          string
		env           variables
		home, appData string
		goos          string
		want          Locations
	}{
		{"home", nil, "/home/u", "", "linux", unix},
		{"macOS", nil, "/home/u", "", "darwin", unix},
		{"Windows", nil, "/users/u", "/users/u/roaming", "windows", Locations{File: "/users/u/roaming/terraform.rc", Dir: "/users/u/roaming/terraform.d"}},
		{"Windows without application data", nil, "/users/u", "", "windows", Locations{}},
		{"no home", nil, "", "/x", "linux", Locations{}},
		{"variable", variables{"TF_CLI_CONFIG_FILE": "x/rc", "TERRAFORM_CONFIG": "y"}, "/home/u", "", "linux", Locations{File: "x/rc", required: true}},
		{"old variable", variables{"TERRAFORM_CONFIG": "y"}, "/home/u", "", "linux", Locations{File: "y", required: true}},
		{"empty variable", variables{"TF_CLI_CONFIG_FILE": "", "TERRAFORM_CONFIG": ""}, "/home/u", "", "linux", unix},
		{"variable on Windows", variables{"TF_CLI_CONFIG_FILE": "rc"}, "", "", "windows", Locations{File: "rc", required: true}},
	} {
		if !tc.want.required {
			tc.want.File, tc.want.Dir = filepath.FromSlash(tc.want.File), filepath.FromSlash(tc.want.Dir)
		}
		user := tc.env.user(tc.home, tc.goos)
		user.Environ = append(user.Environ, "APPDATA="+tc.appData)
		must.Equal(t, Find(user, getproviders.Terraform("")), tc.want, tc.name)
	}
}

func TestHelperDirs(t *testing.T) {
	got := User{HomeDir: "/d", GOOS: "linux"}.helperDirs(getproviders.Platform{OS: "linux", Arch: "arm64"})
	must.EqualSlices(t, got, []string{filepath.FromSlash("/d/.terraform.d/plugins"), filepath.FromSlash("/d/.terraform.d/plugins/linux_arm64")})
	if got := (User{GOOS: "linux"}).helperDirs(getproviders.Platform{OS: "linux", Arch: "arm64"}); got != nil {
		t.Errorf("got %v without a directory", got)
	}
}

// TestImpliedMirrorDirs has directories with colons between them, below the configuration's.
func TestImpliedMirrorDirs(t *testing.T) {
	const unix = "/home/u/.terraform.d/plugins:/home/u/.local/share/terraform/plugins:/usr/local/share/terraform/plugins:/usr/share/terraform/plugins"
	for _, tc := range []struct {
		name             string
		env              variables
		home, goos, want string
	}{
		{"Linux", nil, "/home/u", "linux", unix},
		{"other Unix", nil, "/home/u", "freebsd", unix},
		{"no home", nil, "", "linux", "/usr/local/share/terraform/plugins:/usr/share/terraform/plugins"},
		{"XDG", variables{"XDG_DATA_HOME": "/data", "XDG_DATA_DIRS": "/a:relative::/b/:/x/../y"}, "/home/u", "linux",
			"/home/u/.terraform.d/plugins:/data/terraform/plugins:/a/terraform/plugins:/b/terraform/plugins:/y/terraform/plugins"},
		{"relative XDG", variables{"XDG_DATA_HOME": "data", "XDG_DATA_DIRS": "a"}, "/home/u", "linux", "/home/u/.terraform.d/plugins:/home/u/.local/share/terraform/plugins"},
		{"each directory once", variables{"XDG_DATA_HOME": "/a", "XDG_DATA_DIRS": "/a:/b:/b/"}, "/home/u", "linux", "/home/u/.terraform.d/plugins:/a/terraform/plugins:/b/terraform/plugins"},
		{"macOS", variables{"XDG_DATA_HOME": "/a"}, "/Users/u", "darwin",
			"/Users/u/.terraform.d/plugins:/Users/u/Library/Application Support/io.terraform/plugins:/Library/Application Support/io.terraform/plugins"},
		{"macOS without home", nil, "", "darwin", "/Library/Application Support/io.terraform/plugins"},
		{"Windows", variables{"APPDATA": "/roaming"}, "/users/u", "windows", "/roaming/terraform.d/plugins:/roaming/HashiCorp/Terraform/plugins"},
		{"Windows without application data", nil, "/users/u", "windows", ""},
		{"OpenTofu", nil, "/home/u", "linux", unix},
		{"OpenTofu, XDG", variables{"XDG_DATA_HOME": "/data", "XDG_DATA_DIRS": "/a"}, "/home/u", "linux",
			"/home/u/.terraform.d/plugins:/data/opentofu/plugins:/data/terraform/plugins:/a/terraform/plugins"},
	} {
		product := getproviders.Terraform("")
		if strings.HasPrefix(tc.name, "OpenTofu") {
			product = openTofu
		}
		got := filepath.ToSlash(strings.Join(ImpliedMirrorDirs(tc.env.user(tc.home, tc.goos), product), ":"))
		must.Equal(t, got, strings.TrimSuffix("terraform.d/plugins:"+tc.want, ":"), tc.name)
	}
}
