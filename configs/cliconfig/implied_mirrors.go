package cliconfig

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ImpliedMirrorDirs returns the directories that are filesystem mirrors
// without being named, as long as there is no provider_installation block, in
// the order in which they are asked. A provider of which one of them has any
// package isn't asked for at its registry.
//
// They are those of the real tool: terraform.d/plugins in the working directory,
// in the user's home the directory of the CLI configuration, and what the
// system has for the data of programs: XDG_DATA_HOME and XDG_DATA_DIRS, of which
// relative entries don't count, the Library directories of macOS, or APPDATA
// of Windows. They need not exist. Home may be "" if there is none. OpenTofu has
// those of Terraform, and before those of the system its own in XDG_DATA_HOME, if that is set.
func ImpliedMirrorDirs(env func(string) string, home, goos string, product getproviders.Product) []string {
	dirs := []string{filepath.Join("terraform.d", "plugins")}
	if user := ConfigDir(home, env("APPDATA"), goos); user != "" {
		dirs = append(dirs, filepath.Join(user, "plugins"))
	}
	if xdg := env("XDG_DATA_HOME"); xdg != "" && product.XDGName != "" && goos != "windows" {
		dirs = append(dirs, path.Join(xdg, product.XDGName, "plugins"))
	}
	for _, dir := range dataDirs(env, home, goos) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// dataDirs lists what the system has for programs' data. Package path serves
// for paths that always have slashes.
func dataDirs(env func(string) string, home, goos string) []string {
	var dirs []string
	switch goos {
	case "windows":
		if appData := env("APPDATA"); appData != "" {
			dirs = append(dirs, filepath.Join(appData, "HashiCorp", "Terraform", "plugins"))
		}
	case "darwin":
		const bundle = "Library/Application Support/io.terraform/plugins"
		if home != "" {
			dirs = append(dirs, path.Join(home, bundle))
		}
		dirs = append(dirs, "/"+bundle)
	default:
		for _, dir := range xdgDataDirs(env, home) {
			dirs = append(dirs, path.Join(dir, "terraform/plugins"))
		}
	}
	return dirs
}

// xdgDataDirs follows the XDG base directory specification.
func xdgDataDirs(env func(string) string, home string) []string {
	var dirs []string
	if own := env("XDG_DATA_HOME"); path.IsAbs(own) {
		dirs = append(dirs, own)
	} else if home != "" {
		dirs = append(dirs, path.Join(home, ".local/share"))
	}
	all := cmp.Or(env("XDG_DATA_DIRS"), "/usr/local/share:/usr/share")
	for dir := range strings.SplitSeq(all, ":") {
		if path.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
