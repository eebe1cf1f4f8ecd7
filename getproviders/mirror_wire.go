package getproviders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// errRegistryAnswer says that the URL of a mirror is that of something else.
var errRegistryAnswer = errors.New("this looks like an answer of the provider registry protocol: " +
	"the URL seems to be that of a registry, and a network mirror speaks another protocol")

// wireIndex is a mirror's "index.json".
type wireIndex struct {
	Versions json.RawMessage `json:"versions"`
}

// decodeMirrorIndex returns the versions that a mirror has. What isn't a
// version is passed over.
func decodeMirrorIndex(body []byte) ([]Version, error) {
	wire, err := decodeObject[wireIndex](body)
	if err != nil {
		return nil, err
	}
	if len(wire.Versions) > 0 && wire.Versions[0] == '[' {
		return nil, errRegistryAnswer
	}
	var listed map[string]json.RawMessage
	if len(wire.Versions) > 0 {
		if err := json.Unmarshal(wire.Versions, &listed); err != nil {
			return nil, errors.New("versions is not an object")
		}
	}
	versions := make([]Version, 0, len(listed))
	for text := range listed {
		if v, err := ParseVersion(text); err == nil {
			versions = append(versions, v)
		}
	}
	slices.SortFunc(versions, Version.Compare)
	return slices.Compact(versions), nil
}

// wireArchive is one platform's package in a mirror's "<version>.json".
type wireArchive struct {
	URL    string   `json:"url"`
	Hashes []string `json:"hashes"`
}

// decodeMirrorVersion returns the archives of a version by platform.
func decodeMirrorVersion(body []byte) (map[string]*wireArchive, error) {
	wire, err := decodeObject[struct {
		Archives map[string]*wireArchive `json:"archives"`
		Download string                  `json:"download_url"`
	}](body)
	if err != nil {
		return nil, err
	}
	if wire.Archives == nil && wire.Download != "" {
		return nil, errRegistryAnswer
	}
	return wire.Archives, nil
}

// archivePlatforms returns the platforms that there are archives for.
func archivePlatforms(archives map[string]*wireArchive) []Platform {
	var platforms []Platform
	for text := range archives {
		if plat, err := ParsePlatform(text); err == nil {
			platforms = append(platforms, plat)
		}
	}
	return sortPlatforms(platforms)
}

// read returns where the archive is, as told by the document at base, and
// what it is judged by: nil if the mirror gives no hashes.
func (w *wireArchive) read(base *url.URL) (*url.URL, Trust, error) {
	location, err := resolveURL(base, "url", w.URL)
	if err != nil || len(w.Hashes) == 0 {
		return location, nil, err
	}
	var known AnyHash
	for i, text := range w.Hashes {
		hash, err := ParseHash(text)
		if err != nil {
			return nil, nil, fmt.Errorf("hashes[%d]: %w", i, err)
		}
		if hash.Supported() {
			known = append(known, hash)
		}
	}
	if len(known) == 0 {
		return nil, nil, errors.New("none of its hashes is of a kind that can be checked (h1, zh)")
	}
	return location, givenHashes(known), nil
}

// givenHashes are hashes that are known before anything is asked for.
type givenHashes AnyHash

// Load implements Trust.
func (g givenHashes) Load(context.Context) (Authenticator, error) { return AnyHash(g), nil }
