package providercache

import (
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/internal/download"
)

// sized tells tasks how large archives of their providers were before, in
// whatever version, as far as receipts know. It is a hint, and good enough as
// one: a provider doesn't change its size much.
func (in *Installer) sized(tasks []fetcher.Request) []fetcher.Request {
	if len(tasks) < 2 {
		return tasks
	}
	at := in.targetShelf()
	if in.Cache != nil {
		at = in.cacheShelf()
	}
	for i, t := range tasks {
		if download.IsRemote(t.Package.Location) {
			tasks[i].Bytes = at.LastSize(in.packageName(t.Selection))
		}
	}
	return tasks
}
