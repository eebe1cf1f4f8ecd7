package cliconfig

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
)

// Locations says where the CLI configuration is.
type Locations struct {
	File     string // the main file; "" means none
	required bool   // the user named the file, so that a warning says if it doesn't exist
	Dir      string // a directory whose *.tfrc and *.tfrc.json are read after the main file; "" means none
}

// Find returns where the CLI configuration is, by Terraform's rules: only the file that
// TF_CLI_CONFIG_FILE or the older TERRAFORM_CONFIG names; or else .terraformrc and the directory
// .terraform.d in the user's home, which on Windows are terraform.rc and terraform.d in the
// directory that APPDATA names.
//
// OpenTofu's file is .tofurc, or tofu.rc. If it doesn't exist, Terraform's file is read, or else
// opentofu/tofurc in XDG_CONFIG_HOME if that is set. opentofu in XDG_CONFIG_HOME is also the
// directory if .terraform.d doesn't exist.
func Find(user User, given getproviders.Product) Locations {
	product := dialect.Of(given)
	for _, variable := range []string{"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"} {
		if file := user.Getenv(variable); file != "" {
			return Locations{File: file, required: true}
		}
	}
	at := Locations{Dir: user.configDir()}
	if at.Dir == "" {
		return Locations{}
	}
	at.File = user.mainFile(product.Product)
	if xdg := user.Getenv("XDG_CONFIG_HOME"); xdg != "" && product.Understands("xdg") && user.goos() != "windows" {
		if !exists(at.File) {
			at.File = filepath.Join(xdg, "opentofu", product.Program+"rc")
		}
		if !exists(at.Dir) {
			at.Dir = filepath.Join(xdg, "opentofu")
		}
	}
	return at
}

// mainFile returns the product's file, or its predecessor's if only that exists.
func (u User) mainFile(product getproviders.Product) string {
	file := filepath.Join(u.HomeDir, "."+product.Program+"rc")
	if u.goos() == "windows" {
		file = filepath.Join(u.Getenv("APPDATA"), product.Program+".rc")
	}
	if older := product.Predecessor; older != nil && !exists(file) {
		if inherited := u.mainFile(*older); exists(inherited) {
			return inherited
		}
	}
	return file
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// configDir returns the user's directory for the CLI configuration and its programs, or "" if the
// user has none. Unlike Locations.Dir it doesn't depend on the variables that name a file.
func (u User) configDir() string {
	appData := u.Getenv("APPDATA")
	switch isWindows := u.goos() == "windows"; {
	case isWindows && appData != "":
		return filepath.Join(appData, "terraform.d")
	case !isWindows && u.HomeDir != "":
		return filepath.Join(u.HomeDir, ".terraform.d")
	default:
		return ""
	}
}

// ImpliedMirrorDirs returns the directories that are filesystem mirrors without a
// provider_installation block, in the order in which they are asked. If one of them has any package
// of a provider, the provider's registry isn't asked.
//
// They are Terraform's: terraform.d/plugins in the working directory, plugins in the directory of
// the CLI configuration, and the system's directories for data of programs: the absolute paths of
// XDG_DATA_HOME and XDG_DATA_DIRS, the Library directories of macOS, or APPDATA on Windows. They
// needn't exist. OpenTofu has its own directory in XDG_DATA_HOME, if that is set, before the
// system's.
func ImpliedMirrorDirs(user User, product getproviders.Product) []string {
	dirs := []string{filepath.Join("terraform.d", "plugins")}
	if config := user.configDir(); config != "" {
		dirs = append(dirs, filepath.Join(config, "plugins"))
	}
	if xdg := user.Getenv("XDG_DATA_HOME"); xdg != "" && dialect.Of(product).Understands("xdg") && user.goos() != "windows" {
		dirs = append(dirs, path.Join(xdg, "opentofu", "plugins"))
	}
	for _, dir := range user.dataDirs() {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// dataDirs lists the system's directories for data of programs. It uses package path for systems
// whose paths have slashes.
func (u User) dataDirs() []string {
	var dirs []string
	switch u.goos() {
	case "windows":
		if appData := u.Getenv("APPDATA"); appData != "" {
			dirs = append(dirs, filepath.Join(appData, "HashiCorp", "Terraform", "plugins"))
		}
	case "darwin":
		const bundle = "Library/Application Support/io.terraform/plugins"
		if u.HomeDir != "" {
			dirs = append(dirs, path.Join(u.HomeDir, bundle))
		}
		dirs = append(dirs, "/"+bundle)
	default:
		for _, dir := range u.xdgDataDirs() {
			dirs = append(dirs, path.Join(dir, "terraform/plugins"))
		}
	}
	return dirs
}

// xdgDataDirs lists directories by the XDG base directory specification.
func (u User) xdgDataDirs() []string {
	var dirs []string
	if own := u.Getenv("XDG_DATA_HOME"); path.IsAbs(own) {
		dirs = append(dirs, own)
	} else if u.HomeDir != "" {
		dirs = append(dirs, path.Join(u.HomeDir, ".local/share"))
	}
	all := cmp.Or(u.Getenv("XDG_DATA_DIRS"), "/usr/local/share:/usr/share")
	for dir := range strings.SplitSeq(all, ":") {
		if path.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
