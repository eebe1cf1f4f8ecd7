package providercache

import "github.com/tfdeps/tfdeps/providercache/resolve"

func (in *Installer) cachePath(s resolve.Selection) string {
	return in.Cache.PackagePath(s.Provider, s.Version, in.Fetcher.EffectivePlatform())
}
