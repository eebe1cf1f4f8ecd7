package modules

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	version "github.com/hashicorp/go-version"
)

// wireVersions is the answer to ":namespace/:name/:system/versions". Only the
// first element of the list counts: it is the module that was asked for.
type wireVersions struct {
	Modules []*struct {
		Versions []*struct {
			Version string `json:"version"`
		} `json:"versions"`
	} `json:"modules"`
}

// versionList is what a registry says about the versions of a module.
type versionList struct {
	versions []*version.Version // in the registry's order
	odd      []string           // those that aren't versions
}

// decodeVersions reads the answer to ":namespace/:name/:system/versions". What
// isn't a version is set aside, so that one release with an odd name doesn't
// take all others with it.
func decodeVersions(body []byte) (versionList, error) {
	var wire wireVersions
	if err := json.Unmarshal(body, &wire); err != nil {
		return versionList{}, plainJSON(err)
	}
	if len(wire.Modules) == 0 || wire.Modules[0] == nil {
		return versionList{}, errors.New("it has no module")
	}
	var list versionList
	for i, entry := range wire.Modules[0].Versions {
		if entry == nil {
			return versionList{}, fmt.Errorf("versions[%d] is null", i)
		}
		v, err := version.NewVersion(entry.Version)
		if err != nil {
			list.odd = append(list.odd, entry.Version)
			continue
		}
		list.versions = append(list.versions, v)
	}
	return list, nil
}

// plainJSON takes our Go types out of an error of package json.
func plainJSON(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case wrong.Field == "":
		return fmt.Errorf("it is a JSON %s, not an object", wrong.Value)
	default:
		return fmt.Errorf("%s can't be a JSON %s", wrong.Field, wrong.Value)
	}
}

// maxLocation is how long a location may be, in bytes: signed URLs have a few
// thousand.
const maxLocation = 16 << 10

// readLocation reads what a registry says about where a package is: the
// address of one, or a URL relative to the one that was asked, which is that
// before any redirect.
func readLocation(location string, asked *url.URL) (Remote, error) {
	switch {
	case location == "":
		return Remote{}, errors.New("it names no location: there is no X-Terraform-Get in its header")
	case len(location) > maxLocation:
		return Remote{}, fmt.Errorf("the location has more than %d bytes", maxLocation)
	}
	for _, prefix := range []string{"/", "./", "../"} {
		if strings.HasPrefix(location, prefix) {
			u, err := asked.Parse(location)
			if wrong, ok := errors.AsType[*url.Error](err); ok {
				err = wrong.Err // without the text, which may have a secret
			}
			if err != nil {
				return Remote{}, &locationError{fmt.Errorf("the location is no relative URL: %w", err)}
			}
			location = u.String()
			break
		}
	}
	remote, err := parseLocation(location)
	if err != nil {
		return Remote{}, &locationError{err}
	}
	return remote, nil
}

// locationError says that a registry names a location which can't be used.
type locationError struct{ err error }

func (e *locationError) Error() string { return e.err.Error() }
func (e *locationError) Unwrap() error { return e.err }

// parseLocation reads the address of a package, which is not on this machine.
func parseLocation(location string) (Remote, error) {
	address, err := parseComplete(location)
	if err != nil {
		bare, _, _ := strings.Cut(location, "?") // what follows may be secret
		if _, err := parseComplete(bare); err != nil {
			return Remote{}, fmt.Errorf("the location can't be used: %w", err)
		}
		return Remote{}, errors.New("the query of the location is malformed")
	}
	remote, ok := address.(Remote)
	if !ok {
		return Remote{}, fmt.Errorf("the location %q has to be the address of a package, which it isn't", address)
	}
	return remote, checkTold(remote)
}
