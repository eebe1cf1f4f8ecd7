package getproviders

import (
	"fmt"
	"strings"
)

const executablePrefix = "terraform-provider-"

// invalidName stands in paths for what Validate refuses: nothing lies there. So
// whatever was put together by hand, a path leads nowhere outside of its directory.
const invalidName = ".invalid"

// ProviderPath is where a provider's packages lie below a mirror or a cache:
// "host/namespace/type", slash-separated. The host is in Unicode and keeps its port.
//
// This function and those below return a path at which nothing lies, and which leads
// out of no directory, for what isn't valid; ask the Validate methods first.
func ProviderPath(p Provider) string {
	if p.Validate() != nil {
		return invalidName
	}
	return p.String()
}

// UnpackedPath is where an unpacked package lies below a mirror or a cache:
// "host/namespace/type/version/os_arch".
func UnpackedPath(p Provider, v Version, plat Platform) string {
	version, platform := v.String(), plat.String()
	if v.Validate() != nil {
		version = invalidName
	}
	if plat.Validate() != nil {
		platform = invalidName
	}
	return ProviderPath(p) + "/" + version + "/" + platform
}

// PackedName is the file name of a package archive:
// "terraform-provider-TYPE_VERSION_OS_ARCH.zip". In a mirror it lies in the
// directory "host/namespace/type".
func PackedName(p Provider, v Version, plat Platform) string {
	if plat.Validate() != nil {
		return invalidName
	}
	return fileName(p, v, "_"+plat.String()+".zip")
}

// fileName is the name of a file about a version.
func fileName(p Provider, v Version, end string) string {
	if validatePart(p.Type, NormalizePart) != nil || v.Validate() != nil {
		return invalidName
	}
	return executablePrefix + p.Type + "_" + v.String() + end
}

// What ChecksumsName is followed by in the names of the other two documents.
const (
	signatureSuffix = ".sig"
	keysSuffix      = ".keys.json"
)

// ChecksumsName is the file name of a version's checksum list, as publishers
// name it: "terraform-provider-TYPE_VERSION_SHA256SUMS". In a mirror it lies
// beside the archives.
func ChecksumsName(p Provider, v Version) string {
	return fileName(p, v, "_SHA256SUMS")
}

// SignatureName is the file name of the signature over a version's checksum list.
func SignatureName(p Provider, v Version) string { return ChecksumsName(p, v) + signatureSuffix }

// KeysName is the file name of the keys that the origin registry named for a
// version's signature. Only mirrors that tfdeps made have such a file.
func KeysName(p Provider, v Version) string { return ChecksumsName(p, v) + keysSuffix }

// ParseDocumentName reads the name of one of these three documents. ok is false
// for a name that isn't written exactly so.
func ParseDocumentName(name string, p Provider) (v Version, ok bool) {
	list := strings.TrimSuffix(strings.TrimSuffix(name, signatureSuffix), keysSuffix)
	text, _ := strings.CutSuffix(list, "_SHA256SUMS")
	text, _ = strings.CutPrefix(text, executablePrefix+p.Type+"_")
	v, err := ParseVersion(text)
	return v, err == nil && ChecksumsName(p, v) == list && (name == list || name == list+signatureSuffix || name == list+keysSuffix)
}

// ParsePackedName reads a package archive's name; providerType is the type that the
// directory says. Case doesn't matter: the name is read as if it were written
// in lower case, the version's prerelease included. What stands between the
// architecture and ".zip" after one more "_" is for people ("_SIGNED") and is
// ignored. ok is false for a name that isn't one of this type's archives.
func ParsePackedName(name, providerType string) (v Version, plat Platform, ok bool) {
	name, ok = strings.CutSuffix(strings.ToLower(name), ".zip")
	if !ok {
		return Version{}, Platform{}, false
	}
	name, ok = strings.CutPrefix(name, executablePrefix+strings.ToLower(providerType)+"_")
	parts := strings.Split(name, "_")
	if !ok || len(parts) < 3 {
		return Version{}, Platform{}, false
	}
	v, versionErr := ParseVersion(parts[0])
	plat, platformErr := ParsePlatform(parts[1] + "_" + parts[2])
	if versionErr != nil || platformErr != nil {
		return Version{}, Platform{}, false
	}
	return v, plat, true
}

// checkArchiveName refuses the name of an archive that is, in the form that publishers use,
// the name of another package: the signed list of checksums binds a checksum to a name, and
// nothing but the name to provider, version and platform. A name of another form says nothing.
func checkArchiveName(name string, p Provider, v Version, plat Platform) error {
	rest, isZip := strings.CutSuffix(strings.ToLower(name), ".zip")
	rest, isProvider := strings.CutPrefix(rest, executablePrefix)
	typ, _, _ := strings.Cut(rest, "_")
	named, namedPlatform, ok := ParsePackedName(name, typ)
	if !isZip || !isProvider || !ok {
		return nil
	}
	if normal, err := NormalizePart(typ); err != nil || normal != p.Type {
		return fmt.Errorf("filename %.200q is that of another provider", name)
	}
	if !strings.EqualFold(named.String(), v.String()) {
		return fmt.Errorf("filename %.200q is that of version %s, not of %s", name, named, v)
	}
	if namedPlatform != plat {
		return fmt.Errorf("filename %.200q is that of the package for %s, not for %s", name, namedPlatform, plat)
	}
	return nil
}

// ExecutableName reports whether a file of a package is the provider's
// executable: "terraform-provider-TYPE", alone or with "_..." or "....".
// Nothing is asked of its mode, and on Windows nothing of its extension.
func ExecutableName(p Provider, fileName string) bool {
	rest, ok := strings.CutPrefix(fileName, executablePrefix+p.Type)
	return ok && (rest == "" || rest[0] == '_' || rest[0] == '.')
}
