package cliconfig

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// FindHelper returns the program of a credentials helper that is in the directories in which Terraform looks for them, without
// starting it: the one with the newest version; of equal ones that of the first directory. Names are compared without regard to
// case. If there is none that is an error, which the real tool writes to its log, and goes on without a helper.
func (u User) FindHelper(name string) (exe string, err error) {
	return findHelper(name, u.helperDirs(getproviders.CurrentPlatform()))
}

// helperDirs are those in which Terraform looks for the programs of credentials helpers.
func (u User) helperDirs(platform getproviders.Platform) []string {
	if u.configDir() == "" {
		return nil
	}
	plugins := filepath.Join(u.configDir(), "plugins")
	return []string{plugins, filepath.Join(plugins, platform.String())}
}

const helperPrefix = "terraform-credentials-"

func findHelper(name string, dirs []string) (exe string, err error) {
	var newest *version.Version
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // what can't be read has no helper for us
		for _, entry := range entries {
			found := helperFile(entry.Name(), name, runtime.GOOS)
			if found == nil || newest != nil && found.LessThanOrEqual(newest) {
				continue
			}
			path := dir + string(filepath.Separator) + entry.Name() // exec would look for a bare name in PATH
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				exe, newest = path, found
			}
		}
	}
	if exe == "" {
		return "", &hosts.Fault{ID: "credentials_helper_not_found", Err: fmt.Errorf("no program for the credentials helper %q: there is no %s in %s",
			name, helperPrefix+name, cmp.Or(strings.Join(dirs, " or "), "any directory"))}
	}
	return exe, nil
}

// helperFile is the version of a helper whose file has this name, 0 if the name has none; nil: it is another file.
// Windows runs only what ends in ".exe"; elsewhere that doesn't matter.
func helperFile(file, name, goos string) *version.Version {
	stem, isExe := strings.CutSuffix(strings.ToLower(file), ".exe")
	rest, ok := strings.CutPrefix(stem, helperPrefix+strings.ToLower(name))
	if !ok || goos == "windows" && !isExe {
		return nil
	}
	text, ok := strings.CutPrefix(cmp.Or(rest, "_v0"), "_v")
	text, _, _ = strings.Cut(text, "_x") // of a protocol that plugins had once
	found, err := version.NewSemver(text)
	if err != nil || !ok {
		return nil
	}
	return found
}
