package mirrorserver

import (
	"context"
	"net/http"
	"time"
)

// locationMaxAge is how long a location is fresh. It may be a signed URL, which is good for some minutes.
const locationMaxAge = time.Minute

// locationMaxStale is how old a location may be that counts while the registry fails: who has an older signed URL gets
// an error of another server, which says nothing of the registry.
const locationMaxStale = time.Hour

// wireModules is what a registry lists of a module.
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

// serveModuleLocation says where a version of a module is, in the header in which registries say so. The package itself
// comes from there.
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

// moduleKey is where a record about a module lies in the bucket.
func moduleKey(m Module, name string) string {
	return "modules/" + m.Host.ASCII() + "/" + m.path() + "/" + name + ".json"
}
