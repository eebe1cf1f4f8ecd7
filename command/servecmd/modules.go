package servecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/tfdeps/tfdeps/command/sources"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/modules"
	"github.com/tfdeps/tfdeps/providercache/mirrorserver"
)

// registries asks registries of modules. What they say is remembered by the server alone, which knows how long it is good for.
type registries struct {
	net     sources.Network
	product getproviders.Product
}

// ModuleVersions implements mirrorserver.ModuleSource.
func (r registries) ModuleVersions(ctx context.Context, m mirrorserver.Module) ([]string, error) {
	all, err := r.net.Registries(r.product, "").Versions(ctx, addressOf(m))
	return all, missing(err)
}

// ModuleLocation implements mirrorserver.ModuleSource.
func (r registries) ModuleLocation(ctx context.Context, m mirrorserver.Module, version string) (string, error) {
	found, err := r.net.Registries(r.product, "").Locate(ctx, addressOf(m), version)
	return found.String(), missing(err)
}

func addressOf(m mirrorserver.Module) modules.Registry {
	return modules.Registry{Host: m.Host, Namespace: m.Namespace, Name: m.Name, System: m.System}
}

// missing says of an error in the server's words that there is no such module.
func missing(err error) error {
	if errors.Is(err, modules.ErrModuleNotFound) || errors.Is(err, modules.ErrAddress) {
		return fmt.Errorf("%w: %w", getproviders.ErrNotFound, err)
	}
	return err
}
