package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
)

// ErrStateVersion says that the format of a state file is older or newer than
// the one that Terraform writes since 0.12.
var ErrStateVersion = errors.New("unsupported state file version")

// StateRequirements reads a local state file and returns the providers of the
// resources in it, without constraints. A missing file is no requirements, and
// so is an empty one. An error matches [ErrStateVersion] if the file is in
// another format.
//
// The file is read as a stream: memory is needed for the largest string in it,
// not for the whole. Resources whose provider address can't be read are passed
// over, as the real tool does. A provider may have a legacy address, if the
// state was last written by Terraform 0.12.
func StateRequirements(path string, engine getproviders.Engine) (getproviders.Requirements, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return getproviders.Requirements{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	defer file.Close()
	addresses, err := stateAddresses(file)
	if err != nil {
		return nil, fmt.Errorf("reading state %s: %w", path, err)
	}
	reqs := getproviders.Requirements{}
	for _, address := range addresses {
		provider, ok := stateProvider(address, engine)
		if _, known := reqs[provider]; ok && !known {
			reqs.Add(provider, getproviders.Requirement{Origin: getproviders.Origin{File: path}})
		}
	}
	return reqs, nil
}

// stateAddresses returns the different "provider" properties of a state's
// resources, sorted.
func stateAddresses(r io.Reader) ([]string, error) {
	s := stateReader{json.NewDecoder(r)}
	s.dec.UseNumber()
	if first, err := s.dec.Token(); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	} else if first != json.Delim('{') {
		return nil, errors.New("this is not a JSON object")
	}
	addresses := map[string]bool{}
	versionSeen := false
	err := s.properties(func(name string) error {
		switch {
		case strings.EqualFold(name, "version"):
			versionSeen = true
			return s.version()
		case strings.EqualFold(name, "resources"):
			return s.resources(addresses)
		}
		return s.skip()
	})
	if err != nil {
		return nil, err
	}
	if _, err := s.dec.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	if !versionSeen {
		return nil, fmt.Errorf("%w: there is none in the file", ErrStateVersion)
	}
	return slices.Sorted(maps.Keys(addresses)), nil
}
