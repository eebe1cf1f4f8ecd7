package mirrorserver

import (
	"context"
	"net/http"
	"time"
)

// locationMaxAge is how long a location is fresh. It may be a signed URL, which is valid for some minutes.
const locationMaxAge = time.Minute

// locationMaxStale is the maximal age of a location that is used while the registry fails: with an
// older signed URL, clients get an error of another server, which doesn't mention the registry.
const locationMaxStale = time.Hour

// wireModules is a registry's list of a module's versions.
type wireModules struct {
	Modules []wireModule `json:"modules"`
}

type wireModule struct {
	Versions []wireRelease `json:"versions"`
}

type wireRelease struct {
	Version string `json:"version"`
}

// serveModuleVersions sends the versions of a module.
func (s *Server) serveModuleVersions(w http.ResponseWriter, r *http.Request, asked request) error {
	found, err := s.releases.get(r.Context(), moduleKey(asked.module, "versions"), func(ctx context.Context) ([]string, error) {
		return s.opts.Modules.ModuleVersions(ctx, asked.module)
	})
	if err != nil {
		return err
	}
	return serveMade(s, w, r, found, "", func() any {
		module := wireModule{Versions: []wireRelease{}}
		for _, v := range found.value {
			module.Versions = append(module.Versions, wireRelease{v})
		}
		return wireModules{Modules: []wireModule{module}}
	})
}

// serveModuleLocation sends the location of a module's version, in the
// header of the registry protocol. Clients get the package from there.
func (s *Server) serveModuleLocation(w http.ResponseWriter, r *http.Request, asked request) error {
	found, err := s.locations.get(r.Context(), moduleKey(asked.module, asked.release+"/location"), func(ctx context.Context) (string, error) {
		return s.opts.Modules.ModuleLocation(ctx, asked.module, asked.release)
	})
	if err != nil {
		return err
	}
	s.counts.documents.Add(1)
	w.Header().Set("X-Terraform-Get", found.value)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// moduleKey returns the key of a record about a module in the bucket.
func moduleKey(m Module, name string) string {
	return "modules/" + m.Host.ASCII() + "/" + m.path() + "/" + name + ".json"
}
