package command

import (
	"path/filepath"

	"github.com/tfdeps/tfdeps/configs/modules"
	"github.com/tfdeps/tfdeps/configs/modules/fetch"
	"github.com/tfdeps/tfdeps/getproviders"
)

// moduleInstaller makes what finds modules and fetches those that have to be.
// The Fetcher is to be closed.
func (m *Meta) moduleInstaller(product getproviders.Product, net network, store string) (modules.Installer, *fetch.Fetcher) {
	offline := net.OfflineBy != ""
	fetcher := &fetch.Fetcher{Client: net.Archives, Store: store, Environ: m.Env, Offline: offline}
	return modules.Installer{
		Dir:        m.modulesDir(),
		Product:    product,
		WorkingDir: workingDirectory(),
		Fetcher:    fetcher,
		Registries: &modules.Registries{
			Client:      net.Client,
			Discovery:   net.Discovery,
			Credentials: net.Credentials,
			Product:     product,
			Store:       store,
			Offline:     offline,
		},
	}, fetcher
}

// moduleStore is where packages of modules are kept for other directories; ""
// if there is no place.
func (m *Meta) moduleStore() string {
	if m.CacheDir == "" {
		return ""
	}
	return filepath.Join(m.CacheDir, "modules", "v1")
}

// modulesDir is where modules are recorded, and those that aren't local are.
func (m *Meta) modulesDir() string { return filepath.Join(m.dataDir(), "modules") }
