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
// resources in it, as [ReadStateRequirements] does. A missing file is no
// requirements. One that isn't regular is an error: a pipe would have to be
// waited for, and a device may have no end.
func StateRequirements(path string, product getproviders.Product) (getproviders.Requirements, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return getproviders.Requirements{}, nil
	case err != nil:
		return nil, fmt.Errorf("reading state: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading state: %s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading state: %w", err)
	}
	defer file.Close()
	return ReadStateRequirements(file, path, product)
}

// ReadStateRequirements reads a state and returns the providers of the
// resources in it, without constraints, and with name as the file that says
// so. An empty state is no requirements. An error matches [ErrStateVersion] if
// the state is in another format.
//
// It is read as a stream: memory is needed for the largest string in it, not
// for the whole. Resources whose provider address can't be read are passed
// over, as the real tool does. A provider may have a legacy address, if the
// state was last written by Terraform 0.12.
func ReadStateRequirements(r io.Reader, name string, product getproviders.Product) (getproviders.Requirements, error) {
	addresses, err := stateAddresses(r)
	if err != nil {
		return nil, fmt.Errorf("reading state %s: %w", name, err)
	}
	reqs := getproviders.Requirements{}
	for _, address := range addresses {
		provider, ok := stateProvider(address, product)
		if _, known := reqs[provider]; ok && !known {
			reqs.Add(provider, getproviders.Requirement{Origin: getproviders.Origin{File: name}})
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
