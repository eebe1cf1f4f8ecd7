package command

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfdeps/tfdeps/configs/cliconfig"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// sources says where providers come from. Unless the user says otherwise,
// that is directories in well-known places, and for every provider of which
// they have no package at all, the provider's origin registry.
func (m *Meta) sources(cli *cliconfig.Config, client *http.Client, engine getproviders.Engine) (getproviders.MultiSource, error) {
	var all getproviders.MultiSource
	var local []getproviders.Pattern
	for _, dir := range existing(impliedMirrors()) {
		mirror := &getproviders.FilesystemMirrorSource{Dir: dir}
		providers, err := mirror.Providers(m.Context)
		if err != nil {
			return nil, err
		}
		for _, p := range providers {
			local = append(local, getproviders.ExactPattern(p))
		}
		all = append(all, getproviders.Selector{Source: mirror})
	}
	registry := &getproviders.RegistrySource{
		Client:    client,
		Discovery: &hosts.Discovery{Client: client, Forced: cli.Hosts},
		Engine:    engine,
	}
	return append(all, getproviders.Selector{Source: registry, Exclude: local}), nil
}

// impliedMirrors lists the directories in which packages are looked for
// without being told to. So far it is the one in the working directory.
func impliedMirrors() []string {
	return []string{filepath.Join("terraform.d", "plugins")}
}

func existing(dirs []string) []string {
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}
