package vendored

import (
	"strings"

	"github.com/tfdeps/tfdeps/configs/modules/modulelock"
	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
)

// Unit says what a vendored file is a part of, and is replaced together with:
// slash-separated paths below the working directory. Archives of providers,
// what is signed about them, lock files and the record are units of their own, an unpacked package is one,
// and so are all modules together with modules.json. ok is false for files that
// aren't vendored.
func Unit(name string) (unit string, ok bool) {
	switch name {
	case depsfile.FileName, modulelock.FileName, RecordName:
		return name, true
	}
	if strings.HasPrefix(name, ModulesDir+"/") {
		return ModulesDir, true
	}
	rest, ok := strings.CutPrefix(name, PluginsDir+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 4 {
		return "", false
	}
	p, err := getproviders.Terraform("").ParseProvider(strings.Join(parts[:3], "/"))
	if err != nil {
		return "", false
	}
	_, _, packed := getproviders.ParsePackedName(parts[3], p.Type)
	if _, signed := getproviders.ParseDocumentName(parts[3], p); len(parts) == 4 && (packed || signed) {
		return name, true
	}
	if len(parts) < 6 {
		return "", false
	}
	_, wrongVersion := getproviders.ParseVersion(parts[3])
	_, wrongPlatform := getproviders.ParsePlatform(parts[4])
	return PluginsDir + "/" + strings.Join(parts[:5], "/"), wrongVersion == nil && wrongPlatform == nil
}

// PackageOf says of which version of which provider a unit is a package. ok is
// false for units that are none.
func PackageOf(unit string) (p getproviders.Provider, v getproviders.Version, ok bool) {
	rest, ok := strings.CutPrefix(unit, PluginsDir+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 4 {
		return p, v, false
	}
	p, err := getproviders.Terraform("").ParseProvider(strings.Join(parts[:3], "/"))
	if err != nil {
		return p, v, false
	}
	if len(parts) == 4 {
		v, _, ok = getproviders.ParsePackedName(parts[3], p.Type)
		return p, v, ok
	}
	v, err = getproviders.ParseVersion(parts[3])
	return p, v, err == nil
}

// LockFiles are the files that a bundle has beside what is in [Places], and that
// are written after it.
func LockFiles() []string { return []string{RecordName, modulelock.FileName, depsfile.FileName} }
