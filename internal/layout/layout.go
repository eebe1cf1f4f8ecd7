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

// ExecutablePrefix is what the names of providers' executables and archives begin with.
const ExecutablePrefix = "terraform-provider-"

// Valid is a Provider, a Version or a Platform of package getproviders.
type Valid interface {
	fmt.Stringer
	Validate() error
}

// invalidName stands in paths for what Validate refuses: nothing lies there. So
// whatever was put together by hand, a path leads nowhere outside of its directory.
const invalidName = ".invalid"

// ProviderPath is where a provider's packages lie below a mirror or a cache:
// "host/namespace/type", slash-separated. The host is in Unicode and keeps its port.
//
// This function and those below return a path at which nothing lies, and which leads
// out of no directory, for what isn't valid; ask the Validate methods first.
func ProviderPath(p Valid) string {
	if p.Validate() != nil {
		return invalidName
	}
	return p.String()
}

// UnpackedPath is where an unpacked package lies below a mirror or a cache:
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

// PackedName is what getproviders.PackedName says.
func PackedName(p, v, plat Valid) string {
	if plat.Validate() != nil {
		return invalidName
	}
	return fileName(p, v, "_"+plat.String()+".zip")
}

// fileName is the name of a file about a version.
func fileName(p, v Valid, end string) string {
	if p.Validate() != nil || v.Validate() != nil {
		return invalidName
	}
	return ExecutablePrefix + path.Base(p.String()) + "_" + v.String() + end
}

// What ChecksumsName is followed by in the names of the other two documents.
const (
	SignatureSuffix = ".sig"
	KeysSuffix      = ".keys.json"
)

// ChecksumsName is the file name of a version's checksum list, as publishers
// name it: "terraform-provider-TYPE_VERSION_SHA256SUMS". In a mirror it lies
// beside the archives.
func ChecksumsName(p, v Valid) string {
	return fileName(p, v, "_SHA256SUMS")
}

// SignatureName is the file name of the signature over a version's checksum list.
func SignatureName(p, v Valid) string { return ChecksumsName(p, v) + SignatureSuffix }

// KeysName is the file name of the keys that the origin registry named for a
// version's signature. Only mirrors that tfdeps made have such a file.
func KeysName(p, v Valid) string { return ChecksumsName(p, v) + KeysSuffix }

// ExecutableName reports whether a file of a package is the provider's
// executable: "terraform-provider-TYPE", alone or with "_..." or "....".
// Nothing is asked of its mode, and on Windows nothing of its extension.
func ExecutableName(p Valid, fileName string) bool {
	rest, ok := strings.CutPrefix(fileName, ExecutablePrefix+path.Base(p.String()))
	return ok && (rest == "" || rest[0] == '_' || rest[0] == '.')
}

// device matches the names that Windows keeps for devices, in every directory and with every extension. It takes three digits
// above the line for the others.
var device = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)`)
})

// WindowsRefuses reports whether Windows can't hold a file at a slash-separated path, or would hold it under another name
// or as something else: names of devices, a dot or a space at an end, and characters that aren't for names there.
func WindowsRefuses(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if device().MatchString(part) || strings.TrimRight(part, ". ") != part ||
			strings.ContainsAny(part, `<>:"|?*\`) || strings.ContainsFunc(part, unicode.IsControl) {
			return true
		}
	}
	return false
}
