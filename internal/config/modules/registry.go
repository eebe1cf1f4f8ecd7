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

const (
	// registryService is how registries announce the module registry protocol.
	registryService = "modules.v1"

	// registryAnswerBytes is how large an answer in JSON may be: hundreds of
	// times what the longest list of versions has.
	registryAnswerBytes = 16 << 20

	// registryRedirects is how many redirects are followed, as usual on the web.
	registryRedirects = 10
)

// Registries asks the registries of modules, each found by service discovery
// on the host that an address names, which versions there are and where.
//
// Each is asked for the versions of a module and for the location of a version
// once; the answers are remembered as long as the value lives, so that one run
// sees one state of a registry. A program that lives longer makes a new one
// for each run; Client and Discovery may be shared. It is safe for many
// goroutines, and must not be copied after its first use.
type Registries struct {
	Client    *http.Client     // required; see hosts.NewClient
	Discovery *hosts.Discovery // required
	// Credentials are sent along with requests to a registry's API, and never
	// with those for packages; nil: none. They are those of the host in the
	// module's address, wherever its discovery document says that the API is,
	// except that nothing is sent over plain http. Discovery has credentials of
	// its own.
	Credentials hosts.Credentials
	Product     getproviders.Product // its version is sent to registries

	// Store is a directory of the user's own, in whose subdirectory "locations"
	// those of versions are remembered from run to run; it needn't exist. "":
	// they aren't. What is in it may be removed at any time.
	Store string
	// Offline has no registry asked: all that is known is what is remembered.
	Offline bool

	versions par.Memo[Registry, versionList] // by address without subdirectory
	located  par.Memo[release, Remote]       // those that registries answered with in this run
}

// Select chooses the newest version of a module that satisfies a constraint;
// "" is satisfied by every release. A prerelease is chosen only where the
// constraint has a term, with "=" or without operator, for this very version.
// Of versions that differ in nothing but metadata, the first in the registry's list
// is taken.
//
// Where the constraint leaves no choice ("1.2.0", "= 1.2.0") and Store knows
// this version, no registry is asked.
//
// Errors match ErrModuleNotFound and so on, or ErrNoVersion, or that the constraint isn't
// one. Warnings are there with an error, too.
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
	if r.Offline && errors.Is(err, ErrNoVersion) { // the registry might name others: the right one isn't known
		return choice, offline(release{module: address})
	}
	choice.Unasked = r.Offline && err == nil
	return choice, err
}

// Versions returns all versions of a module that its registry lists, normalised and in the
// registry's order. What isn't a version is left out.
//
// Errors match ErrModuleNotFound and so on, or [ErrAddress].
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

// Locate finds out where the package of a version is, and returns the address
// of the module in it: a subdirectory of the registry's comes before that of
// the address. The subdirectory is a name; where a registry's looks like a pattern,
// it isn't one. The version is as Select returns it.
//
// A location that turned out to be of no use, that of a signed URL, say, may have been remembered for longer than it is good: again has
// the registry asked, unless it answered in this very run.
//
// Errors match ErrModuleNotFound and so on, [ErrAddress], or that the version isn't one.
func (r *Registries) Locate(ctx context.Context, address Registry, version string, again bool) (Remote, error) {
	asked, err := newRelease(address, version)
	if err != nil {
		return Remote{}, err
	}
	remote, ok := locationStore(r.Store).recall(asked)
	if !ok || again {
		remote, err = r.location(ctx, asked)
	}
	remote.Subdir = path.Join(remote.Subdir, address.Subdir)
	return remote, err
}

// newRelease makes sure that address and version can stand in URLs and file names.
func newRelease(address Registry, given string) (release, error) {
	if err := address.check(); err != nil {
		return release{}, err
	}
	v, err := version.NewVersion(given)
	if err != nil {
		return release{}, fmt.Errorf("%q is no version of %s", given, address.Package())
	}
	address.Subdir = ""
	return release{address, v.String()}, nil
}

// list returns the versions of a module.
func (r *Registries) list(ctx context.Context, module Registry) (versionList, error) {
	if r.Offline {
		return locationStore(r.Store).remembered(module)
	}
	list, err := r.versions.Do(ctx, module, func(ctx context.Context) (versionList, error) {
		_, doc, err := r.ask(ctx, release{module: module}, "versions")
		if err != nil {
			return versionList{}, err
		}
		list, err := decodeVersions(doc.Body)
		return list, malformed(release{module: module}, doc, err)
	})
	return list, causeOr(ctx, err)
}

// location asks for the location of a release, and remembers it.
func (r *Registries) location(ctx context.Context, asked release) (Remote, error) {
	if r.Offline {
		return Remote{}, offline(asked)
	}
	remote, err := r.located.Do(ctx, asked, func(ctx context.Context) (Remote, error) {
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
	return remote, causeOr(ctx, err)
}

// ask sends a request about a module to the API of its registry, and returns
// its URL and the answer, if that is good.
//
// The service's URL is a directory, whether there is a slash at its end or not: so it
// is in Terraform and OpenTofu, for modules.
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
	req := hosts.DocumentRequest{
		URL:          base.ResolveReference(&url.URL{Path: strings.Join(segments, "/")}),
		Header:       http.Header{"X-Terraform-Version": {r.Product.Version}},
		MaxRedirects: registryRedirects,
		MaxBytes:     registryAnswerBytes,
	}
	if err := hosts.Authorize(ctx, r.Credentials, module.Host, req.URL, req.Header); err != nil {
		return nil, nil, unanswered(about, err)
	}
	doc, err := hosts.GetDocument(ctx, r.Client, req)
	if err != nil {
		return nil, nil, unanswered(about, err)
	}
	return req.URL, doc, judge(about, req, doc)
}

// locationStore is a directory that remembers where versions of modules are; "" remembers nothing.
type locationStore string

// storedLocation is the content of a file of the store. The address stands in it
// because names of files don't tell case apart on every system.
type storedLocation struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Location string `json:"location"`
}

// dir is the directory with a file for each known version of a module.
func (s locationStore) dir(module Registry) string {
	host := strings.ReplaceAll(module.Host.ASCII(), ":", "_") // no host has one, and Windows no colon
	return filepath.Join(string(s), "locations", host, module.Namespace, module.Name, module.System)
}

func (s locationStore) file(known release) string {
	return filepath.Join(s.dir(known.module), known.version+".json")
}

// recall returns the location of a release, if it is remembered. A file that
// makes no sense doesn't exist.
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

// remember writes down the location of a release, by one rename. That it can't
// be is no failure: the next run asks again.
func (s locationStore) remember(known release, remote Remote) {
	location := remote.String()
	if again, err := parseLocation(location); s != "" && err == nil && again == remote {
		wholefile.Remember(s.file(known), storedLocation{known.module.Package(), known.version, location}) // a location may be a secret
	}
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
