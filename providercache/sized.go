package providercache

import (
	"path"
	"strings"

	"github.com/tfdeps/tfdeps/providercache/internal/download"
)

// sized tells tasks how large archives of their providers were before, in
// whatever version, as far as receipts know. It is a hint, and good enough as
// one: a provider doesn't change its size much.
func (in *Installer) sized(tasks []task) []task {
	if len(tasks) < 2 {
		return tasks
	}
	at := in.targetShelf()
	if in.Cache != nil {
		at = in.cacheShelf()
	}
	if at.own == nil {
		return tasks
	}
	names := at.own.file.keys()
	for i, t := range tasks {
		if download.IsRemote(t.Package.Location) {
			tasks[i].Bytes = at.lastSize(names, in.packageName(t.Selection))
		}
	}
	return tasks
}

// lastSize returns the size of the archive that the last of a provider's
// packages for a platform came from.
func (s shelf) lastSize(names []string, name string) (size int64) {
	version, platform := path.Split(name)
	provider, _ := path.Split(path.Clean(version))
	for _, other := range names {
		if !strings.HasPrefix(other, provider) || path.Base(other) != platform {
			continue
		}
		if found, ok := s.own.find(other); ok && found.ArchiveBytes > 0 {
			size = found.ArchiveBytes
		}
	}
	return size
}
