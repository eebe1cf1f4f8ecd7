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

// ManifestName is the file name of the record in the directory for modules.
const ManifestName = "modules.json"

// maxManifestSize is the largest record that is read, in bytes: a hundred times the largest trees'
// records.
const maxManifestSize = 64 << 20

// Record is the module that a call got.
type Record struct {
	Key     string // names of calls from the root, joined by dots; "" is the root module
	Source  string // normalised; "" for the root module
	Version string `json:",omitempty"` // normalised; only for modules of a registry
	Dir     string // the module's directory, with slashes; absolute or relative to the working directory
}

// satisfies reports whether the recorded version satisfies a call's constraint.
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

// Manifest is the content of modules.json: a record for each key. A nil map is empty.
type Manifest map[string]Record

// ReadManifest reads the record in a directory for modules, from fsys as in [load.Options]. A missing or empty file
// is an empty record. Errors name the file. The product has the registry of old records that name none.
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

// DecodeManifest reads the content of modules.json. It normalises versions and sources; it keeps an
// invalid source, which never equals a call's. Two records for one key and an invalid version are
// errors.
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
				return nil, fmt.Errorf("the record for the module %q has an invalid version: %w", record.Key, err)
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

// Encode returns the content of modules.json: the same bytes that Terraform writes. The root module
// always has a record.
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
		panic(fmt.Sprintf("modules: strings can't be encoded: %v", err)) // strings always can be encoded
	}
	return content
}

// Save writes the record into a directory for modules, by one rename, unless the content is the
// same. It creates the directory if necessary.
func (m Manifest) Save(dir string) error {
	return wholefile.Save(filepath.Join(dir, ManifestName), m.Encode(), 0o666)
}

// forget removes the records of all modules below the key's.
func (m Manifest) forget(key string) {
	maps.DeleteFunc(m, func(k string, _ Record) bool { return strings.HasPrefix(k, key+".") })
}
