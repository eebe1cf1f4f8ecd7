package providercache

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Dir is a directory of unpacked packages in the layout
// host/namespace/type/version/os_arch, as the real tools read it. It needn't
// exist: it is made when the first package is to be put into it, and removed
// again if that fails.
//
// Names that begin with a dot are no part of the layout. Packages that are
// being made are in such directories.
type Dir struct{ Path string }

// PackagePath is where a package is, or would be. What is there may be a
// symbolic link to a directory.
func (d *Dir) PackagePath(p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) string {
	return filepath.Join(d.Path, filepath.FromSlash(getproviders.UnpackedPath(p, v, plat)))
}
