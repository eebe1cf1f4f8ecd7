package modules

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	version "github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// ManifestName is the name of the record in the directory for modules.
const ManifestName = "modules.json"

// maxManifestSize is the most that is read of a record, in bytes: a hundred
// times what the largest trees need.
const maxManifestSize = 64 << 20

// Record says which module a call was given.
type Record struct {
	Key     string // names of calls from the root, joined by dots; "" is the root module
	Source  string // normalised; "" for the root module
	Version string `json:",omitempty"` // normalised; only of modules that a registry knows
	Dir     string // where the module is, with slashes; relative paths are so to the working directory
}

// satisfies reports whether the recorded version is one that a call wants.
func (r Record) satisfies(constraint string) bool {
	if constraint == "" {
		return true
	}
	v, err := version.NewVersion(r.Version)
	if err != nil {
		return false
	}
	constraints, err := version.NewConstraint(constraint)
	return err == nil && constraints.Check(v)
}

// Manifest is the content of modules.json: a record for each key. The nil map
// is an empty one.
type Manifest map[string]Record

// ReadManifest reads the record in a directory for modules, which is in fsys as [load.Options] has it. A file that is
// missing or empty is an empty record. Errors name the file. The product says which
// registry old records mean that name none.
func ReadManifest(fsys fs.FS, dir string, product getproviders.Product) (Manifest, error) {
	path := filepath.Join(dir, ManifestName)
	content, err := wholefile.ReadFS(fsys, path, maxManifestSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	manifest, err := DecodeManifest(content, product)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return manifest, nil
}

// DecodeManifest reads the content of modules.json. Versions and sources are
// normalised; a source that can't be stays as it is, for it will never be equal to that of
// a call. Two records for one key are an error, and so is a version that isn't one.
func DecodeManifest(content []byte, product getproviders.Product) (Manifest, error) {
	if len(content) == 0 {
		return nil, nil
	}
	var file struct{ Modules []Record }
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("not a record of modules: %w", err)
	}
	manifest := Manifest{}
	for _, record := range file.Modules {
		if _, ok := manifest[record.Key]; ok {
			return nil, fmt.Errorf("there are two records for the module %q", record.Key)
		}
		if record.Version != "" {
			v, err := version.NewVersion(record.Version)
			if err != nil {
				return nil, fmt.Errorf("the record for the module %q has a version that isn't one: %w", record.Key, err)
			}
			record.Version = v.String()
		}
		if address, err := ParseAddress(record.Source, product); err == nil {
			record.Source = address.String()
		}
		manifest[record.Key] = record
	}
	return manifest, nil
}

// Encode returns the content of modules.json: the same bytes that the real
// tool writes. There is a record for the root module always.
func (m Manifest) Encode() []byte {
	all := Manifest{}
	maps.Copy(all, m)
	all[""] = Record{Dir: "."}
	file := struct{ Modules []Record }{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		file.Modules = append(file.Modules, all[key])
	}
	content, err := json.Marshal(file)
	if err != nil {
		panic(fmt.Sprintf("modules: strings can't be encoded: %v", err)) // strings always can
	}
	return content
}

// Save writes the record into a directory for modules, by one rename, unless it is there already.
// The directory is made if need be.
func (m Manifest) Save(dir string) error {
	return wholefile.Save(filepath.Join(dir, ManifestName), m.Encode(), 0o666)
}

// forget removes the records of all modules below one.
func (m Manifest) forget(key string) {
	maps.DeleteFunc(m, func(k string, _ Record) bool { return strings.HasPrefix(k, key+".") })
}
