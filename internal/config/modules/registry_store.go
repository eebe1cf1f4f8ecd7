package modules

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

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
func (r *Registries) storeDir(module Registry) string {
	host := strings.ReplaceAll(module.Host.ASCII(), ":", "_") // no host has one, and Windows no colon
	return filepath.Join(r.Store, "locations", host, module.Namespace, module.Name, module.System)
}

func (r *Registries) storeFile(known release) string {
	return filepath.Join(r.storeDir(known.module), known.version+".json")
}

// recall returns the location of a release, if it is remembered. A file that
// makes no sense doesn't exist.
func (r *Registries) recall(wanted release) (Remote, bool) {
	if r.Store == "" {
		return Remote{}, false
	}
	content, err := wholefile.Read(r.storeFile(wanted), maxStoredLocation)
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
func (r *Registries) remember(known release, remote Remote) {
	location := remote.String()
	if again, err := parseLocation(location); r.Store == "" || err != nil || again != remote {
		return
	}
	content, err := json.Marshal(storedLocation{known.module.Package(), known.version, location})
	if err != nil {
		return
	}
	dir := r.storeDir(known.module)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	_ = wholefile.Write(r.storeFile(known), content, 0o600) // a location may be a secret
}

// remembered returns the versions of a module whose locations are known.
func (r *Registries) remembered(module Registry) (versionList, error) {
	var list versionList
	if r.Store != "" {
		files, _ := os.ReadDir(r.storeDir(module)) // what isn't there has no versions
		for _, file := range files {
			name, _ := strings.CutSuffix(file.Name(), ".json")
			v, err := version.NewVersion(name)
			if err != nil || v.String() != name {
				continue
			}
			if _, ok := r.recall(release{module, name}); ok {
				list.versions = append(list.versions, v)
			}
		}
	}
	if len(list.versions) == 0 {
		return versionList{}, offline(release{module: module})
	}
	return list, nil
}

// offlineChoice is what a choice among remembered versions comes to. A registry
// that was asked might have named others, so that none of them fits means
// only that the right one isn't known.
func offlineChoice(module Registry, choice Choice, err error) (Choice, error) {
	if errors.Is(err, ErrNoVersion) {
		module.Subdir = ""
		return Choice{}, offline(release{module: module})
	}
	choice.Unasked = err == nil
	return choice, err
}

// chosenOffline warns of a version that may be another one than that which the
// registry would have led to; nothing if it was asked, or there is no other.
func chosenOffline(s *step) hcl.Diagnostics {
	if !s.from.unasked {
		return nil
	}
	return hcl.Diagnostics{diagnostic.Warning(s.call.SourceRange, "Version chosen offline among what is there",
		"The module %q gets %s %s, which is remembered. Its registry wasn't asked, and may have another version that the call allows.",
		s.call.Name, s.from.registry.Package(), s.from.version)}
}
