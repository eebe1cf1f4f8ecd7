package modules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	version "github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// locationStore is a directory that remembers where versions of modules are; "" remembers nothing.
type locationStore string

// storedLocation is the content of a file of the store. The address stands in it
// because names of files don't tell case apart on every system.
type storedLocation struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Location string `json:"location"`
}

// maxStoredLocation is the most that is read of such a file, in bytes.
const maxStoredLocation = 64 << 10

// storeDir is the directory with a file for each known version of a module.
func (s locationStore) dir(module Registry) string {
	host := strings.ReplaceAll(module.Host.ASCII(), ":", "_") // no host has one, and Windows no colon
	return filepath.Join(string(s), "locations", host, module.Namespace, module.Name, module.System)
}

func (s locationStore) file(known release) string {
	return filepath.Join(s.dir(known.module), known.version+".json")
}

// recall returns the location of a release, if it is remembered. A file that
// makes no sense doesn't exist.
func (s locationStore) recall(wanted release) (Remote, bool) {
	if s == "" {
		return Remote{}, false
	}
	content, err := wholefile.Read(s.file(wanted), maxStoredLocation)
	if err != nil {
		return Remote{}, false
	}
	var known storedLocation
	if err := json.Unmarshal(content, &known); err != nil {
		return Remote{}, false
	}
	if known.Module != wanted.module.Package() || known.Version != wanted.version {
		return Remote{}, false
	}
	remote, err := parseLocation(known.Location)
	return remote, err == nil
}

// remember writes down the location of a release, by one rename. That it can't
// be is no failure: the next run asks again.
func (s locationStore) remember(known release, remote Remote) {
	location := remote.String()
	if again, err := parseLocation(location); s == "" || err != nil || again != remote {
		return
	}
	content, err := json.Marshal(storedLocation{known.module.Package(), known.version, location})
	if err != nil {
		return
	}
	dir := s.dir(known.module)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	_ = wholefile.Write(s.file(known), content, 0o600) // a location may be a secret
}

// remembered returns the versions of a module whose locations are known.
func (s locationStore) remembered(module Registry) (versionList, error) {
	var list versionList
	if s != "" {
		files, _ := os.ReadDir(s.dir(module)) // what isn't there has no versions
		for _, file := range files {
			name, _ := strings.CutSuffix(file.Name(), ".json")
			v, err := version.NewVersion(name)
			if err != nil || v.String() != name {
				continue
			}
			if _, ok := s.recall(release{module, name}); ok {
				list.versions = append(list.versions, v)
			}
		}
	}
	if len(list.versions) == 0 {
		return versionList{}, offline(release{module: module})
	}
	return list, nil
}
