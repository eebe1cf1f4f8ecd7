package getproviders

import (
	"fmt"
	"strings"

	"github.com/tfdeps/tfdeps/internal/layout"
)

// PackedName returns the file name of a package archive:
// "terraform-provider-TYPE_VERSION_OS_ARCH.zip". In a mirror it is in the directory
// "host/namespace/type".
func (p Provider) PackedName(v Version, plat Platform) string {
	return layout.PackedName(p, v, plat)
}

// ParseDocumentName reads the file name of one of a version's signed documents: the list of checksums, its signature or the keys.
// ok is false for a name that isn't written exactly so.
func (p Provider) ParseDocumentName(name string) (v Version, ok bool) {
	list := strings.TrimSuffix(strings.TrimSuffix(name, layout.SignatureSuffix), layout.KeysSuffix)
	text, _ := strings.CutSuffix(list, "_SHA256SUMS")
	text, _ = strings.CutPrefix(text, layout.ExecutablePrefix+p.Type+"_")
	v, err := ParseVersion(text)
	return v, err == nil && layout.ChecksumsName(p, v) == list && (name == list || name == list+layout.SignatureSuffix || name == list+layout.KeysSuffix)
}

// ParsePackedName reads the file name of one of the provider's archives. Of the provider only the Type counts. It ignores case:
// the name is read in lower case, the version's prerelease included. It also ignores a suffix for people after the architecture
// ("_SIGNED"). ok is false for a name that isn't one of this type's archives.
func (p Provider) ParsePackedName(name string) (v Version, plat Platform, ok bool) {
	name, ok = strings.CutSuffix(strings.ToLower(name), ".zip")
	if !ok {
		return Version{}, Platform{}, false
	}
	name, ok = strings.CutPrefix(name, layout.ExecutablePrefix+strings.ToLower(p.Type)+"_")
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

// checkArchiveName refuses the name of an archive that, in the publishers' form, is the name of
// another package: the signed list of checksums binds a checksum to a name, and only the name binds
// it to provider, version and platform. It accepts names of another form.
func checkArchiveName(name string, p Provider, v Version, plat Platform) error {
	rest, isZip := strings.CutSuffix(strings.ToLower(name), ".zip")
	rest, isProvider := strings.CutPrefix(rest, layout.ExecutablePrefix)
	typ, _, _ := strings.Cut(rest, "_")
	named, namedPlatform, ok := Provider{Type: typ}.ParsePackedName(name)
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
