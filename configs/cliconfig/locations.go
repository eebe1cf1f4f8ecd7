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
	File     string // the main file; "": none
	required bool   // the user named the file, so that its absence is worth a warning
	Dir      string // a directory whose *.tfrc and *.tfrc.json are read after the main file; "": none
}

// Find returns where the CLI configuration is, by the rules of Terraform:
// the file that TF_CLI_CONFIG_FILE or the older TERRAFORM_CONFIG names, and
// nothing else; or .terraformrc and the directory .terraform.d of the user's
// home, which on Windows are terraform.rc and terraform.d of the user's
// application data, which APPDATA names.
//
// OpenTofu's file is .tofurc, or tofu.rc. Where there is none, Terraform's counts,
// and where there is none either, opentofu/tofurc in XDG_CONFIG_HOME if that is
// set, which also has the directory unless there is .terraform.d.
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

// mainFile is the file of the product, or of its predecessor if only that is there.
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

// configDir returns the user's directory for the CLI configuration and for
// the programs that belong to it; "" if there is none. Unlike Locations.Dir
// it doesn't depend on the variables that name a file.
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

// ImpliedMirrorDirs returns the directories that are filesystem mirrors
// without being named, as long as there is no provider_installation block, in
// the order in which they are asked. A provider of which one of them has any
// package isn't asked for at its registry.
//
// They are those of Terraform: terraform.d/plugins in the working directory,
// in the user's home the directory of the CLI configuration, and what the
// system has for the data of programs: XDG_DATA_HOME and XDG_DATA_DIRS, of which
// relative entries don't count, the Library directories of macOS, or APPDATA
// of Windows. They need not exist. OpenTofu has
// those of Terraform, and before those of the system its own in XDG_DATA_HOME, if that is set.
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

// dataDirs lists what the system has for programs' data. Package path serves
// for paths that always have slashes.
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

// xdgDataDirs follows the XDG base directory specification.
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
