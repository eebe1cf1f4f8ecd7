package modules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	version "github.com/hashicorp/go-version"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/dialect"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/par"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// registryService is the name of the module registry protocol in service discovery.
const registryService = "modules.v1"

// Registries asks the registries of modules, which service discovery finds on the host of an
// address, for versions and locations.
//
// It asks once for the versions of a module and for the location of a version, and caches the
// answers as long as the value lives, so that one run sees one state of a registry. A long-lived
// program makes a new one for each run; Client and Discovery may be shared. Many goroutines may use
// it. Don't copy it after its first use.
type Registries struct {
	Client    *http.Client     // required; see hosts.NewClient
	Discovery *hosts.Discovery // required
	// Credentials are sent with requests to a registry's API, and never with those for packages;
	// nil means none. They are those of the host in the module's address, on whichever host its
	// discovery document puts the API. They aren't sent over plain http. Discovery has credentials
	// of its own.
	Credentials hosts.Credentials
	Product     getproviders.Product // its version is sent to registries

	// Store is a private directory whose subdirectory "locations" caches the locations of versions
	// between runs; it needn't exist. "" means no such cache. Its content may be removed at any
	// time.
	Store string
	// Offline forbids requests to registries: only the Store is read.
	Offline bool

	versions par.Memo[Registry, versionList] // by address without subdirectory
	located  par.Memo[release, Remote]       // the registries' answers in this run
}

// Select chooses the newest version of a module that satisfies a constraint; every release
// satisfies "". It chooses a prerelease only if the constraint has a term for exactly this version,
// with "=" or without operator. Of versions that differ in metadata only, it takes the first in the
// registry's list.
//
// If the constraint allows one version only ("1.2.0", "= 1.2.0") and Store knows it, no registry is
// asked.
//
// Errors match ErrModuleNotFound, ErrNoVersion or another error of this package, or say that the
// constraint is invalid. Warnings are returned beside an error, too.
func (r *Registries) Select(ctx context.Context, address Registry, constraint string) (choice Choice, err error) {
	if err := address.check(); err != nil {
		return choice, err
	}
	address.Subdir = ""
	want, err := parseWanted(constraint)
	if err != nil {
		return choice, err
	}
	if pinned, ok := want.pinned(); ok {
		if _, ok := locationStore(r.Store).recall(release{address, pinned}); ok {
			return Choice{Version: pinned}, nil
		}
	}
	list, err := r.list(ctx, address)
	if err != nil {
		return choice, err
	}
	choice, err = list.choose(address, want)
	if r.Offline && errors.Is(err, ErrNoVersion) { // the registry might list the right version
		return choice, offline(release{module: address})
	}
	choice.Unasked = r.Offline && err == nil
	return choice, err
}

// Versions returns all valid versions of a module that its registry lists, normalised and in the
// registry's order.
//
// Errors match ErrModuleNotFound or another error of this package, or [ErrAddress].
func (r *Registries) Versions(ctx context.Context, address Registry) ([]string, error) {
	if err := address.check(); err != nil {
		return nil, err
	}
	address.Subdir = ""
	list, err := r.list(ctx, address)
	if err != nil {
		return nil, err
	}
	all := make([]string, 0, len(list.versions))
	for _, v := range list.versions {
		all = append(all, v.String())
	}
	return all, nil
}

// Locate returns the address of a version's package, with the module's subdirectory: the registry's, followed by that of the address.
// The registry's subdirectory is a name, even if it looks like a pattern. The version is one of Select.
//
// A cached location may have expired, such as a signed URL: with again the registry is asked, unless it answered in this run.
//
// Errors match ErrModuleNotFound or another error of this package, or [ErrAddress], or say that the version is invalid.
func (r *Registries) Locate(ctx context.Context, address Registry, version string, again bool) (Remote, error) {
	asked, err := newRelease(address, version)
	if err != nil {
		return Remote{}, err
	}
	remote, ok := locationStore(r.Store).recall(asked)
	if !ok || again {
		remote, err = r.location(ctx, asked)
	}
	remote.Subdir = strings.TrimPrefix(path.Join(remote.Subdir, address.Subdir), "/")
	return remote, err
}

// newRelease checks that address and version are valid in URLs and file names.
func newRelease(address Registry, given string) (release, error) {
	if err := address.check(); err != nil {
		return release{}, err
	}
	v, err := version.NewVersion(given)
	if err != nil {
		return release{}, fmt.Errorf("%q is not a version of %s", given, address.Package())
	}
	address.Subdir = ""
	return release{address, v.String()}, nil
}

// list returns the versions of a module.
func (r *Registries) list(ctx context.Context, module Registry) (versionList, error) {
	if r.Offline {
		return locationStore(r.Store).remembered(module)
	}
	return r.versions.Do(ctx, module, func(ctx context.Context) (versionList, error) {
		_, doc, err := r.ask(ctx, release{module: module}, "versions")
		if err != nil {
			return versionList{}, err
		}
		list, err := decodeVersions(doc.Body)
		return list, malformed(release{module: module}, doc, err)
	})
}

// location asks for the location of a release, and stores it.
func (r *Registries) location(ctx context.Context, asked release) (Remote, error) {
	if r.Offline {
		return Remote{}, offline(asked)
	}
	return r.located.Do(ctx, asked, func(ctx context.Context) (Remote, error) {
		from, doc, err := r.ask(ctx, asked, asked.version, "download")
		if err != nil {
			return Remote{}, err
		}
		remote, err := readAnswer(dialect.Of(r.Product), asked.module.Host, doc, from)
		if err != nil {
			return Remote{}, malformed(asked, doc, err)
		}
		locationStore(r.Store).remember(asked, remote)
		return remote, nil
	})
}

// ask sends a request about a module to the API of its registry, and returns the URL and the
// answer, or an error for other answers.
//
// The service's URL is a directory even without a slash at its end, as in Terraform and OpenTofu
// for modules.
func (r *Registries) ask(ctx context.Context, about release, segments ...string) (*url.URL, *hosts.Document, error) {
	module := about.module
	base, err := r.Discovery.Service(ctx, module.Host, registryService)
	if err != nil {
		return nil, nil, unanswered(about, err)
	}
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
		if base.RawPath != "" {
			base.RawPath += "/"
		}
	}
	segments = append([]string{module.Namespace, module.Name, module.System}, segments...)
	req, doc, err := hosts.AskService(ctx, r.Client, base, module.Host, r.Credentials, r.Product.Version, segments...)
	if err != nil {
		return nil, nil, unanswered(about, err)
	}
	return req.URL, doc, judge(about, req, doc)
}

// locationStore is a directory with the locations of modules' versions; "" stores nothing.
type locationStore string

// storedLocation is the content of a file of the store. It has the address, because file names are
// case-insensitive on some systems.
type storedLocation struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Location string `json:"location"`
}

// dir returns the directory with a file for each known version of a module.
func (s locationStore) dir(module Registry) string {
	host := strings.ReplaceAll(module.Host.ASCII(), ":", "_") // hosts have no "_", and Windows allows no colon
	return filepath.Join(string(s), "locations", host, module.Namespace, module.Name, module.System)
}

func (s locationStore) file(known release) string {
	return filepath.Join(s.dir(known.module), known.version+".json")
}

// recall returns the stored location of a release. It ignores malformed files.
func (s locationStore) recall(wanted release) (found Remote, ok bool) {
	if s == "" {
		return found, false
	}
	var known storedLocation
	if !wholefile.Recall(s.file(wanted), &known) || known.Module != wanted.module.Package() || known.Version != wanted.version {
		return found, false
	}
	remote, err := parseLocation(known.Location)
	return remote, err == nil
}

// remember stores the location of a release, by one rename. It ignores errors: the next run asks
// again.
func (s locationStore) remember(known release, remote Remote) {
	location := remote.String()
	if again, err := parseLocation(location); s != "" && err == nil && again == remote {
		wholefile.Remember(s.file(known), storedLocation{known.module.Package(), known.version, location}) // a location may be a secret
	}
}

// remembered returns the versions of a module whose locations are stored.
func (s locationStore) remembered(module Registry) (versionList, error) {
	var list versionList
	if s != "" {
		files, _ := os.ReadDir(s.dir(module)) // a missing directory has no versions
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
