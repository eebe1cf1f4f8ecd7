package cliconfig

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestHelper_NotFound(t *testing.T) {
	exe, err := findHelper("x", []string{"/a", "/b"})
	must.Equal(t, exe, "")
	must.Equal(t, must.As[*hosts.Fault](t, err).Code(), "credentials_helper_not_found")
	must.Equal(t, err.Error(), `no program for the credentials helper "x": there is no terraform-credentials-x in /a or /b`)
	if _, err := findHelper("x", nil); err == nil || !strings.HasSuffix(err.Error(), "in any directory") {
		t.Errorf("got %v", err)
	}
}

func TestNewest_HelperIsFound(t *testing.T) {
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	for files, want := range map[string]string{ // a name that ends in "/" is a directory's; "": not found
		"":                          "",                          // none
		"1/terraform-credentials-t": "1/terraform-credentials-t", // plain
		"2/terraform-credentials-t 1/terraform-credentials-t":                                                            "1/terraform-credentials-t",            // the first directory
		"1/terraform-credentials-t 2/terraform-credentials-t_v0.1":                                                       "2/terraform-credentials-t_v0.1",       // any version before none
		"1/terraform-credentials-t 2/terraform-credentials-t_v0.0.0":                                                     "1/terraform-credentials-t",            // version 0 is none
		"1/terraform-credentials-t_v1.9.0 2/terraform-credentials-t_v1.10.0":                                             "2/terraform-credentials-t_v1.10.0",    // numbers, not letters
		"1/terraform-credentials-t_v1.0.0 2/terraform-credentials-t_v1.0.0.1 1/terraform-credentials-t_v1":               "2/terraform-credentials-t_v1.0.0.1",   // fewer numbers
		"1/terraform-credentials-t_v1.0.0-rc1 2/terraform-credentials-t_v1.0.0":                                          "2/terraform-credentials-t_v1.0.0",     // prerelease
		"1/terraform-credentials-t_v1.0.0-rc1 2/terraform-credentials-t_v1.0.0-rc2":                                      "2/terraform-credentials-t_v1.0.0-rc2", // prereleases
		"1/terraform-credentials-t_v1.0.0_x4 2/terraform-credentials-t_v0.9.0_x5":                                        "1/terraform-credentials-t_v1.0.0_x4",  // protocol of old
		"1/Terraform-Credentials-T_V1.0.0":                                                                               "1/Terraform-Credentials-T_V1.0.0",     // capitals
		"1/terraform-credentials-t_v2.0.0/ 1/terraform-credentials-t":                                                    "1/terraform-credentials-t",            // directory
		"1/terraform-credentials-t_vault 1/terraform-credentials-t_v 1/terraform-credentials-t_v99999999999999999999":    "",                                     // no version at all
		"1/terraform-credentials-tt 1/terraform-credentials-t-t 1/terraform-credentials- 1/t 1/xterraform-credentials-t": "",                                     // another's
	} {
		base := t.TempDir()
		for file := range strings.FieldsSeq(files) {
			path := filepath.Join(base, filepath.FromSlash(file)) + exe
			must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o700))
			err := os.WriteFile(path, nil, 0o700)
			if strings.HasSuffix(file, "/") {
				err = errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
			}
			must.Succeed(t, err)
		}
		got, err := findHelper("t", []string{filepath.Join(base, "1"), filepath.Join(base, "2")})
		if want != "" {
			want = filepath.Join(base, filepath.FromSlash(want)) + exe
		}
		must.Equal(t, got, want, files)
		must.Equal(t, err == nil, want != "", files)
	}
}

// TestHelper_FileNames maps file names, helper names and systems.
func TestHelper_FileNames(t *testing.T) {
	for text, want := range map[string]bool{
		"terraform-credentials-x x linux":                  true,
		"terraform-credentials-x.exe x linux":              true,
		"terraform-credentials-x x windows":                false,
		"terraform-credentials-x.EXE x windows":            true,
		"terraform-credentials-x_v1.0.0.exe x windows":     true,
		"terraform-credentials-x.sh x linux":               false,
		"terraform-credentials-x_vault x_vault linux":      true,
		"terraform-credentials-x_vault_v1.0 x_vault linux": true,
		"terraform-credentials-X X linux":                  true,
		"terraform-credentials-a ../a linux":               false,
	} {
		words := strings.Fields(text)
		must.Equal(t, helperFile(words[0], words[1], words[2]) != nil, want, text)
	}
}
