package cliconfig

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// userOf makes a User from a system, its user's home directory ("-" means none) and variables,
// separated by spaces.
func userOf(text string) User {
	words := strings.Fields(text)
	return User{GOOS: words[0], HomeDir: strings.Trim(words[1], "-"), Environ: words[2:]}
}

// TestFind maps users to their configuration file and directory.
func TestFind(t *testing.T) {
	const unix = "/home/u/.terraformrc /home/u/.terraform.d"
	for text, want := range map[string]string{
		"linux /home/u":  unix,
		"darwin /home/u": unix, // macOS
		"windows /users/u APPDATA=/users/u/roaming":                "/users/u/roaming/terraform.rc /users/u/roaming/terraform.d",
		"windows /users/u":                                         " ", // without application data
		"linux - APPDATA=/x":                                       " ", // no home
		"linux /home/u TF_CLI_CONFIG_FILE=x/rc TERRAFORM_CONFIG=y": "x/rc, required",
		"linux /home/u TERRAFORM_CONFIG=y":                         "y, required", // old variable
		"linux /home/u TF_CLI_CONFIG_FILE= TERRAFORM_CONFIG=":      unix,          // empty variable
		"windows - TF_CLI_CONFIG_FILE=rc":                          "rc, required",
	} {
		found := Find(userOf(text), getproviders.Terraform(""))
		got := filepath.ToSlash(found.File + " " + found.Dir)
		if found.required {
			got = found.File + found.Dir + ", required"
		}
		must.Equal(t, got, want, text)
	}
}

func TestHelperDirs(t *testing.T) {
	got := User{HomeDir: "/d", GOOS: "linux"}.helperDirs(getproviders.Platform{OS: "linux", Arch: "arm64"})
	must.EqualSlices(t, got, []string{filepath.FromSlash("/d/.terraform.d/plugins"), filepath.FromSlash("/d/.terraform.d/plugins/linux_arm64")})
	if got := (User{GOOS: "linux"}).helperDirs(getproviders.Platform{OS: "linux", Arch: "arm64"}); got != nil {
		t.Errorf("got %v without a directory", got)
	}
}

// TestImpliedMirrorDirs maps users (of OpenTofu if it is named) to directories below the configuration's, separated by colons.
func TestImpliedMirrorDirs(t *testing.T) {
	const unix = "/home/u/.terraform.d/plugins:/home/u/.local/share/terraform/plugins:/usr/local/share/terraform/plugins:/usr/share/terraform/plugins"
	for text, want := range map[string]string{
		"linux /home/u":   unix,
		"freebsd /home/u": unix,
		"linux -":         "/usr/local/share/terraform/plugins:/usr/share/terraform/plugins",
		"linux /home/u XDG_DATA_HOME=/data XDG_DATA_DIRS=/a:relative::/b/:/x/../y": "/home/u/.terraform.d/plugins:/data/terraform/plugins:/a/terraform/plugins:/b/terraform/plugins:/y/terraform/plugins",
		"linux /home/u XDG_DATA_HOME=data XDG_DATA_DIRS=a":                         "/home/u/.terraform.d/plugins:/home/u/.local/share/terraform/plugins",
		"linux /home/u XDG_DATA_HOME=/a XDG_DATA_DIRS=/a:/b:/b/":                   "/home/u/.terraform.d/plugins:/a/terraform/plugins:/b/terraform/plugins", // each directory once
		"darwin /Users/u XDG_DATA_HOME=/a":                                         "/Users/u/.terraform.d/plugins:/Users/u/Library/Application Support/io.terraform/plugins:/Library/Application Support/io.terraform/plugins",
		"darwin -":                                                                 "/Library/Application Support/io.terraform/plugins",
		"windows /users/u APPDATA=/roaming":                                        "/roaming/terraform.d/plugins:/roaming/HashiCorp/Terraform/plugins",
		"windows /users/u":                                                         "", // without application data
		"OpenTofu: linux /home/u":                                                  unix,
		"OpenTofu: linux /home/u XDG_DATA_HOME=/data XDG_DATA_DIRS=/a":             "/home/u/.terraform.d/plugins:/data/opentofu/plugins:/data/terraform/plugins:/a/terraform/plugins",
	} {
		product, user := terraform, text
		if of, isTofu := strings.CutPrefix(text, "OpenTofu: "); isTofu {
			product, user = openTofu, of
		}
		got := filepath.ToSlash(strings.Join(ImpliedMirrorDirs(userOf(user), product), ":"))
		must.Equal(t, got, strings.TrimSuffix("terraform.d/plugins:"+want, ":"), text)
	}
}

// TestFind_ForOpenTofu has a system, whether XDG_CONFIG_HOME is xdg there, and files in a home directory (a trailing slash means a
// directory); and the file and the directory that are used, without the home directory.
func TestFind_ForOpenTofu(t *testing.T) {
	for text, want := range map[string]string{
		"linux -":                                     ".tofurc .terraform.d",
		"linux - .tofurc .terraformrc":                ".tofurc .terraform.d",      // its own
		"linux - .terraformrc":                        ".terraformrc .terraform.d", // its predecessor's
		"linux xdg":                                   "xdg/opentofu/tofurc xdg/opentofu",
		"darwin xdg .tofurc xdg/opentofu/tofurc":      ".tofurc xdg/opentofu",
		"linux xdg .terraformrc xdg/opentofu/tofurc":  ".terraformrc xdg/opentofu",
		"linux xdg .terraform.d/ xdg/opentofu/tofurc": "xdg/opentofu/tofurc .terraform.d",
		"windows xdg":                                 "tofu.rc terraform.d",
		"windows - terraform.rc":                      "terraform.rc terraform.d",
	} {
		words, there := strings.Fields(text), files{}
		for _, name := range words[2:] {
			there[name] = ""
		}
		home := must.WriteAll(t, t.TempDir(), there)
		user := User{GOOS: words[0], HomeDir: home, Environ: []string{"APPDATA=" + home}}
		if words[1] != "-" {
			user.Environ = append(user.Environ, "XDG_CONFIG_HOME="+filepath.Join(home, words[1]))
		}
		found := Find(user, openTofu)
		must.Equal(t, strings.ReplaceAll(filepath.ToSlash(found.File+" "+found.Dir), filepath.ToSlash(home)+"/", ""), want, text)
		must.Equal(t, found.required, false, text)
	}
}
