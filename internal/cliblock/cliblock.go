// Package cliblock has those parts of a CLI configuration that only this module reads.
package cliblock

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// OCI is what the CLI configuration of OpenTofu says about OCI registries, beside the oci_mirror blocks.
type OCI struct {
	Credentials []OCICredentials // of oci_credentials blocks, in their order

	// What an oci_default_credentials block says. DefaultHelper is the helper for all registries; "": there is none.
	DefaultHelper string
	// NoAmbient leaves out the files of Docker and Podman; Files are those to be read in place of the usual ones, nil:
	// the usual ones.
	NoAmbient bool
	Files     []string
}

// OCICredentials is an oci_credentials block: a username and a password, two tokens, or the name of a helper.
type OCICredentials struct {
	Prefix                    string // HOST, or HOST/PATH
	Username, Password        string
	AccessToken, RefreshToken string
	Helper                    string // the program is docker-credential-NAME
}

// Setting is a statement of the CLI configuration. Its value, which may be a secret, isn't here.
type Setting struct {
	Name string // as it counts, in lower case: "plugin_cache_dir", "credentials", "filesystem_mirror"
	// Label is the hostname of a host or credentials block, as addresses write it, and the
	// name of a credentials helper; else "".
	Label string
	File  string
	Line  int // from 1; 0: not known
}

// Place is "FILE:LINE", for people.
func (s Setting) Place() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Reattached returns the providers in the value of TF_REATTACH_PROVIDERS,
// sorted. They run already, started by a debugger for instance, so they
// are not installed. The value is a JSON object whose keys are source
// addresses; what it says of each is for those who talk to providers, and is
// not looked at. An empty value means none.
func Reattached(text string, product getproviders.Product) ([]getproviders.Provider, error) {
	if text == "" {
		return nil, nil
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, fmt.Errorf("invalid format for TF_REATTACH_PROVIDERS: %w", err)
	}
	var providers []getproviders.Provider
	for _, source := range slices.Sorted(maps.Keys(entries)) {
		p, err := product.ParseProvider(source)
		if err != nil {
			return nil, fmt.Errorf("invalid provider address %q in TF_REATTACH_PROVIDERS: %w", source, err)
		}
		providers = append(providers, p)
	}
	slices.SortFunc(providers, getproviders.Provider.Compare)
	return slices.Compact(providers), nil
}
