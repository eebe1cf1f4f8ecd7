package getproviders

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/tfdeps/tfdeps/internal/hashing"
)

// errRegistryAnswer says that a mirror's URL is a registry's.
var errRegistryAnswer = errors.New("this is an answer of the provider registry protocol: " +
	"the URL seems to be that of a registry, and network mirrors speak another protocol")

// decodeMirrorIndex returns the versions in a mirror's "index.json", sorted. It skips keys that
// aren't versions, and ignores the values, which the protocol reserves.
func decodeMirrorIndex(body []byte) ([]Version, error) {
	wire, err := decodeObject[struct {
		Versions json.RawMessage `json:"versions"`
	}](body)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(wire.Versions, []byte("[")) || wire.Versions == nil && isRegistryError(body) {
		return nil, errRegistryAnswer
	}
	var listed map[string]json.RawMessage
	if wire.Versions != nil {
		if err := json.Unmarshal(wire.Versions, &listed); err != nil {
			return nil, errors.New("versions is not a JSON object")
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

// isRegistryError reports whether an answer has the form of a registry's error: {"errors": ["Not
// Found"]}.
func isRegistryError(body []byte) bool {
	wire, err := decodeObject[struct {
		Errors []string `json:"errors"`
	}](body)
	return err == nil && len(wire.Errors) > 0
}

// wireArchive is one platform's package in a mirror's "<version>.json".
type wireArchive struct {
	URL    string   `json:"url"`
	Hashes []string `json:"hashes"`
}

// decodeMirrorVersion returns the archives of a version by platform. A nil archive counts as
// missing.
func decodeMirrorVersion(body []byte) (map[string]*wireArchive, error) {
	wire, err := decodeObject[struct {
		Archives map[string]*wireArchive `json:"archives"`
		Download json.RawMessage         `json:"download_url"`
	}](body)
	if err != nil {
		return nil, err
	}
	if wire.Archives == nil && (wire.Download != nil || isRegistryError(body)) {
		return nil, errRegistryAnswer
	}
	return wire.Archives, nil
}

// archivePlatforms returns the platforms that have an archive.
func archivePlatforms(archives map[string]*wireArchive) []Platform {
	var platforms []Platform
	for text, archive := range archives {
		if plat, err := ParsePlatform(text); err == nil && archive != nil {
			platforms = append(platforms, plat)
		}
	}
	return sortPlatforms(platforms)
}

// read returns the archive's URL, resolved against the document's URL base, and the hashes that the
// mirror lists.
func (w *wireArchive) read(base *url.URL) (*url.URL, AnyHash, error) {
	location, err := resolveURL(base, "url", w.URL)
	if err != nil || len(w.Hashes) == 0 {
		return location, nil, err
	}
	hashes := make(AnyHash, len(w.Hashes))
	for i, text := range w.Hashes {
		if hashes[i], err = ParseHash(text); err != nil {
			// err repeats all of the text, which may be long.
			return nil, nil, fmt.Errorf("hashes[%d] is %.80q, which has no scheme such as %q", i, text, hashing.ZH+":")
		}
	}
	return location, hashes, nil
}
