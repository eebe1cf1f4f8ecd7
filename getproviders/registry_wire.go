package getproviders

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// versionList is what a registry says about the versions of a provider.
type versionList struct {
	versions []listedVersion // each version once
	warnings []string
}

// listedVersion is one of them. Protocols and platforms are recommended by the
// protocol, not required: empty means that the registry doesn't tell.
type listedVersion struct {
	version   Version
	protocols []string
	platforms []Platform // sorted
}

// wireVersions is the answer to ":namespace/:type/versions".
type wireVersions struct {
	Versions []*struct {
		Version   string         `json:"version"`
		Protocols []string       `json:"protocols"`
		Platforms []wirePlatform `json:"platforms"`
	} `json:"versions"`
	Warnings []string `json:"warnings"`
}

type wirePlatform struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

// decodeVersions reads the answer to ":namespace/:type/versions". What isn't a
// version is passed over, so that one release with an odd name doesn't take
// all others with it; of equal versions the last one counts.
func decodeVersions(body []byte) (versionList, error) {
	wire, err := decodeObject[wireVersions](body)
	if err != nil {
		return versionList{}, err
	}
	list := versionList{warnings: wire.Warnings}
	at := make(map[Version]int, len(wire.Versions))
	for i, entry := range wire.Versions {
		if entry == nil {
			return versionList{}, fmt.Errorf("versions[%d] is null", i)
		}
		v, err := ParseVersion(entry.Version)
		if err != nil {
			continue
		}
		listed := listedVersion{version: v, protocols: entry.Protocols, platforms: decodePlatforms(entry.Platforms)}
		if before, ok := at[v]; ok {
			list.versions[before] = listed
			continue
		}
		at[v] = len(list.versions)
		list.versions = append(list.versions, listed)
	}
	return list, nil
}

// decodePlatforms passes over what isn't a platform: these only serve as hints.
func decodePlatforms(wire []wirePlatform) []Platform {
	platforms := make([]Platform, 0, len(wire))
	for _, w := range wire {
		if p, err := ParsePlatform(w.OS + "_" + w.Arch); err == nil {
			platforms = append(platforms, p)
		}
	}
	return sortPlatforms(platforms)
}

// wireAlias is the answer to "-/:type/versions", the look-up of a provider of
// which only the type is known.
type wireAlias struct {
	ID      string `json:"id"`       // "namespace/type"
	MovedTo string `json:"moved_to"` // likewise; "" or null if it hasn't moved
}

// decodeAlias returns the namespace and type that such a look-up found.
func decodeAlias(body []byte) (namespace, typ string, err error) {
	wire, err := decodeObject[wireAlias](body)
	if err != nil {
		return "", "", err
	}
	id := wire.ID
	if wire.MovedTo != "" {
		id = wire.MovedTo
	}
	namespace, typ, ok := strings.Cut(id, "/")
	if !ok {
		return "", "", errors.New("id is not of the form namespace/type")
	}
	if namespace, err = NormalizePart(namespace); err != nil {
		return "", "", err
	}
	typ, err = NormalizePart(typ)
	return namespace, typ, err
}

// decodeObject reads a body that has to be one JSON object.
func decodeObject[T any](body []byte) (*T, error) {
	var object *T
	err := json.Unmarshal(body, &object)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// Its own text speaks of our Go types.
		if wrong.Field == "" {
			return nil, fmt.Errorf("it is a JSON %s, not an object", wrong.Value)
		}
		return nil, fmt.Errorf("%s can't be a JSON %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return nil, err
	}
	if object == nil {
		return nil, errors.New("it is null, not an object")
	}
	return object, nil
}
