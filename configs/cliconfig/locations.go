package cliconfig

import (
	"os"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Locations says where the CLI configuration is.
type Locations struct {
	File     string // the main file; "": none
	Required bool   // the user named the file, so that its absence is worth a warning
	Dir      string // a directory whose *.tfrc and *.tfrc.json are read after the main file; "": none
}

// Find returns where the CLI configuration is, by the rules of the real tool:
// the file that TF_CLI_CONFIG_FILE or the older TERRAFORM_CONFIG names, and
// nothing else; or .terraformrc and the directory .terraform.d of the user's
// home, which on Windows are terraform.rc and terraform.d of the user's
// application data. Env returns the value of a variable, "" if there is none;
// home and appData may be "" if they aren't known; goos is as in runtime.GOOS.
//
// OpenTofu's file is .tofurc, or tofu.rc. Where there is none, Terraform's counts,
// and where there is none either, opentofu/tofurc in XDG_CONFIG_HOME if that is
// set, which also has the directory unless there is .terraform.d.
func Find(env func(string) string, home, appData, goos string, product getproviders.Product) Locations {
	for _, variable := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if file := env(variable); file != "" {
			return Locations{File: file, Required: true}
		}
	}
	at := Locations{Dir: ConfigDir(home, appData, goos)}
	if at.Dir == "" {
		return Locations{}
	}
	at.File = mainFile(home, appData, goos, product)
	if xdg := env("XDG_CONFIG_HOME"); xdg != "" && product.XDGName != "" && goos != "windows" {
		if !exists(at.File) {
			at.File = filepath.Join(xdg, product.XDGName, product.Program+"rc")
		}
		if !exists(at.Dir) {
			at.Dir = filepath.Join(xdg, product.XDGName)
		}
	}
	return at
}

// mainFile is the file of the product, or of its predecessor if only that is there.
func mainFile(home, appData, goos string, product getproviders.Product) string {
	file := filepath.Join(home, "."+product.Program+"rc")
	if goos == "windows" {
		file = filepath.Join(appData, product.Program+".rc")
	}
	if product.Predecessor == nil || exists(file) {
		return file
	}
	if older := mainFile(home, appData, goos, *product.Predecessor); exists(older) {
		return older
	}
	return file
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// ConfigDir returns the user's directory for the CLI configuration and for
// the programs that belong to it; "" if there is none. Unlike Locations.Dir
// it doesn't depend on the variables that name a file.
func ConfigDir(home, appData, goos string) string {
	switch {
	case goos == "windows" && appData != "":
		return filepath.Join(appData, "terraform.d")
	case goos != "windows" && home != "":
		return filepath.Join(home, ".terraform.d")
	default:
		return ""
	}
}

// HelperDirs returns the directories in which the real tool looks for the
// programs of credentials helpers; configDir is that of ConfigDir.
func HelperDirs(configDir string, platform getproviders.Platform) []string {
	if configDir == "" {
		return nil
	}
	plugins := filepath.Join(configDir, "plugins")
	return []string{plugins, filepath.Join(plugins, platform.String())}
}
