// Package layout has the names of files and directories in mirrors, caches and packages.
package layout

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// ExecutablePrefix is the prefix of the names of providers' executables and archives.
const ExecutablePrefix = "terraform-provider-"

// Valid is a Provider, a Version or a Platform of package getproviders.
type Valid interface {
	fmt.Stringer
	Validate() error
}

// invalidName replaces in paths what Validate refuses; no file has this name. So even values made
// by hand never make a path that leads out of its directory.
const invalidName = ".invalid"

// ProviderPath returns the path of a provider's packages in a mirror or a cache:
// "host/namespace/type", slash-separated. The host is in Unicode and keeps its port.
//
// For invalid values, this function and those below return a path at which no file exists, and
// which never leads out of its directory; call the Validate methods first.
func ProviderPath(p Valid) string {
	if p.Validate() != nil {
		return invalidName
	}
	return p.String()
}

// UnpackedPath returns the path of an unpacked package in a mirror or a cache:
// "host/namespace/type/version/os_arch".
func UnpackedPath(p, v, plat Valid) string {
	version, platform := v.String(), plat.String()
	if v.Validate() != nil {
		version = invalidName
	}
	if plat.Validate() != nil {
		platform = invalidName
	}
	return ProviderPath(p) + "/" + version + "/" + platform
}

// PackedName implements getproviders.PackedName.
func PackedName(p, v, plat Valid) string {
	if plat.Validate() != nil {
		return invalidName
	}
	return fileName(p, v, "_"+plat.String()+".zip")
}

// fileName returns the name of a file of a version.
func fileName(p, v Valid, end string) string {
	if p.Validate() != nil || v.Validate() != nil {
		return invalidName
	}
	return ExecutablePrefix + path.Base(p.String()) + "_" + v.String() + end
}

// The suffixes of the other two documents, after ChecksumsName.
const (
	SignatureSuffix = ".sig"
	KeysSuffix      = ".keys.json"
)

// ChecksumsName returns the file name of a version's checksum list, as publishers name it:
// "terraform-provider-TYPE_VERSION_SHA256SUMS". In a mirror it is beside the archives.
func ChecksumsName(p, v Valid) string {
	return fileName(p, v, "_SHA256SUMS")
}

// SignatureName returns the file name of the signature of a version's checksum list.
func SignatureName(p, v Valid) string { return ChecksumsName(p, v) + SignatureSuffix }

// KeysName returns the file name of the keys that the origin registry published for a version's
// signature. Only mirrors made by tfdeps have such a file.
func KeysName(p, v Valid) string { return ChecksumsName(p, v) + KeysSuffix }

// ExecutableName reports whether a file of a package is the provider's executable:
// "terraform-provider-TYPE", alone or followed by "_..." or "....". The mode doesn't matter, nor
// the extension on Windows.
func ExecutableName(p Valid, fileName string) bool {
	rest, ok := strings.CutPrefix(fileName, ExecutablePrefix+path.Base(p.String()))
	return ok && (rest == "" || rest[0] == '_' || rest[0] == '.')
}

// device matches the names that Windows reserves for devices, in every directory and with every extension. Windows treats the
// superscript digits ¹, ² and ³ as digits.
var device = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)
})

// WindowsRefuses reports whether Windows can't have a file at a slash-separated path, or would give it another name or
// meaning: names of devices, trailing dots and spaces, and invalid characters.
func WindowsRefuses(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if device().MatchString(part) || strings.TrimRight(part, ". ") != part ||
			strings.ContainsAny(part, `<>:"|?*\`) || strings.ContainsFunc(part, unicode.IsControl) {
			return true
		}
	}
	return false
}
