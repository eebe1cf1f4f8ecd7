package view

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
)

// providersFormat is the version of the JSON: a number after the dot that is
// greater means additions, one before it a change.
const providersFormat = "1.0"

// JSON writes the report for programs, as one object. It is documented in the
// help of the command.
func (r ProvidersReport) JSON(w io.Writer) error {
	out := jsonProviders{
		Format:    providersFormat,
		Modules:   make([]jsonModule, 0, len(r.Modules)),
		Providers: []jsonProvider{},
	}
	known := map[string]bool{} // paths of modules, and of tests, which are none
	for _, m := range r.Modules {
		out.Modules = append(out.Modules, newJSONModule(m, known))
		known[m.Path] = true
		if m.Path == "" {
			for _, test := range r.Tests {
				known[test] = false
			}
		}
	}
	if !r.StateUnknown {
		out.State = &jsonState{Providers: append([]getproviders.Provider{}, r.State.Providers()...)}
	}
	all := r.State
	for _, m := range r.Modules {
		all = all.Merge(m.Required)
	}
	for _, p := range all.Providers() {
		out.Providers = append(out.Providers, r.jsonProvider(p, all.Constraints(p)))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // constraints are full of what would be escaped
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

type jsonProviders struct {
	Format    string         `json:"format_version"`
	Modules   []jsonModule   `json:"modules"`
	State     *jsonState     `json:"state"` // null: not known
	Providers []jsonProvider `json:"providers"`
}

type jsonModule struct {
	Path     string            `json:"path"`
	Parent   *string           `json:"parent"` // null: the root module
	Key      string            `json:"key"`
	Source   string            `json:"source,omitempty"`
	Version  string            `json:"version,omitempty"`
	Dir      string            `json:"dir"`
	Call     *jsonCall         `json:"call,omitempty"`
	Required []jsonRequirement `json:"required_providers"`
}

type jsonCall struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Constraints string `json:"version_constraints,omitempty"`
}

type jsonRequirement struct {
	Address     getproviders.Provider    `json:"address"`
	Constraints getproviders.Constraints `json:"version_constraints"`
	Origins     []jsonOrigin             `json:"origins"`
}

type jsonOrigin struct {
	File        string                   `json:"file"`
	Line        int                      `json:"line"`
	Constraints getproviders.Constraints `json:"version_constraints"`
}

type jsonState struct {
	Providers []getproviders.Provider `json:"providers"`
}

type jsonProvider struct {
	Address     getproviders.Provider    `json:"address"`
	BuiltIn     bool                     `json:"built_in"`
	Constraints getproviders.Constraints `json:"version_constraints"`
	Locked      *LockedVersion           `json:"locked"` // null: it isn't
}

func newJSONModule(m ModuleProviders, known map[string]bool) jsonModule {
	out := jsonModule{
		Path: m.Path, Key: m.Key, Source: m.Source, Version: m.Version, Dir: m.Dir,
		Required: []jsonRequirement{},
	}
	if m.Path != "" {
		parent, _ := splitPath(m.Path, known)
		if !known[parent] {
			parent = "" // tests are the root module's
		}
		out.Parent = &parent
	}
	if m.Call != nil {
		out.Call = &jsonCall{filepath.ToSlash(m.Call.File), m.Call.Line, m.Call.Version}
	}
	for _, p := range m.Required.Providers() {
		required := jsonRequirement{Address: p, Constraints: m.Required.Constraints(p), Origins: []jsonOrigin{}}
		for _, r := range m.Required[p] {
			required.Origins = append(required.Origins, jsonOrigin{filepath.ToSlash(r.Origin.File), r.Origin.Line, r.Constraints})
		}
		out.Required = append(out.Required, required)
	}
	return out
}

func (r ProvidersReport) jsonProvider(p getproviders.Provider, c getproviders.Constraints) jsonProvider {
	out := jsonProvider{Address: p, BuiltIn: p.IsBuiltIn(), Constraints: c}
	if locked, ok := r.Locked[p]; ok {
		out.Locked = &locked
	}
	return out
}
