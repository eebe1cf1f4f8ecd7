package providertest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	modulesPath  = "/v1/modules/"
	archivesPath = "/archives/"
)

// ModuleSpec is one version of a module that a registry knows.
type ModuleSpec struct {
	Namespace, Name, System string
	Version                 string // as it is listed; it may be invalid
	// Location is the package's location in the registry's response. It may be relative to the URL
	// of that response, like the result of AddArchive.
	Location string
}

// module returns the path of the module below modulesPath.
func (m ModuleSpec) module() string {
	return strings.Join([]string{m.Namespace, m.Name, m.System}, "/")
}

// modules holds the modules of a registry, and the archives that it serves.
type modules struct {
	mu       sync.Mutex
	known    map[string][]ModuleSpec // by path, in the order of AddModule
	archives map[string][]byte       // by name
}

// AddModule publishes a version of a module, after the existing ones. Modules have no host, as any
// host may be redirected here. Requests are of the kinds "module/versions" and "module/download".
func (r *Registry) AddModule(m ModuleSpec) {
	r.modules.mu.Lock()
	defer r.modules.mu.Unlock()
	if r.modules.known == nil {
		r.modules.known = make(map[string][]ModuleSpec)
	}
	r.modules.known[m.module()] = append(r.modules.known[m.module()], m)
}

// AddArchive serves bytes under a name, such as "net-1.0.0.tar.gz", and returns their path.
// Requests are of the kind "module/archive".
func (r *Registry) AddArchive(name string, content []byte) (path string) {
	r.modules.mu.Lock()
	defer r.modules.mu.Unlock()
	if r.modules.archives == nil {
		r.modules.archives = make(map[string][]byte)
	}
	r.modules.archives[name] = content
	return archivesPath + name
}

// ModulesURL returns the base URL of modules.v1, for host blocks.
func (r *Registry) ModulesURL() string { return r.BaseURL() + modulesPath }

// versionsOf returns the versions of a request's module.
func (m *modules) versionsOf(req *http.Request) []ModuleSpec {
	asked := ModuleSpec{Namespace: req.PathValue("namespace"), Name: req.PathValue("name"), System: req.PathValue("system")}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.known[asked.module()])
}

func (m *modules) archive(req *http.Request) answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.archives[req.PathValue("file")]
	if !ok {
		return answer{}
	}
	return document(typeBinary, content)
}

func (m *modules) versions(req *http.Request) answer {
	found := m.versionsOf(req)
	if len(found) == 0 {
		return answer{}
	}
	versions := make([]map[string]string, len(found))
	for i, spec := range found {
		versions[i] = map[string]string{"version": spec.Version}
	}
	return document(typeJSON, toJSON(map[string]any{"modules": []any{map[string]any{"versions": versions}}}))
}

// download sends a response without a body, which the type answer can't express.
func (m *modules) download(w http.ResponseWriter, req *http.Request) {
	for _, spec := range m.versionsOf(req) {
		if spec.Version != req.PathValue("version") {
			continue
		}
		w.Header().Set("X-Terraform-Get", spec.Location)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.NotFound(w, req)
}

// handleModules registers the handlers for modules.
func (r *Registry) handleModules(mux *http.ServeMux) {
	const module = modulesPath + "{namespace}/{name}/{system}/"
	r.handle(mux, "module/versions", module+"versions", r.modules.versions)
	mux.HandleFunc(module+"{version}/download", func(w http.ResponseWriter, req *http.Request) {
		r.serve(w, req, "module/download", http.HandlerFunc(r.modules.download))
	})
	r.handle(mux, "module/archive", archivesPath+"{file}", r.modules.archive)
}

// TarGz makes a deterministic archive of files (name to content), as modules are often served; all
// files have mode 0644.
func TarGz(files map[string]string) []byte {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		must(archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg,
			Name:     name,
			Size:     int64(len(files[name])),
			Mode:     0o644,
			ModTime:  time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
		}))
		_, err := io.WriteString(archive, files[name])
		must(err)
	}
	must(archive.Close())
	must(compressed.Close())
	return out.Bytes()
}
