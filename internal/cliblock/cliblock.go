// Package cliblock has the types of a CLI configuration that are internal to this module.
package cliblock

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// OCI is the OCI part of OpenTofu's CLI configuration, without the oci_mirror blocks.
type OCI struct {
	Credentials []OCICredentials // of oci_credentials blocks, in their order

	// The settings of an oci_default_credentials block. DefaultHelper is the credential helper for all registries;
	// "" means none.
	DefaultHelper string
	// NoAmbient disables the files of Docker and Podman. Files replaces the usual files; nil means the usual ones.
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

// Setting is a statement of the CLI configuration, without its value, which may be a secret.
type Setting struct {
	Name string // in lower case, as it is used: "plugin_cache_dir", "credentials", "filesystem_mirror"
	// Label is the hostname of a host or credentials block, as addresses write it, or the name of a
	// credentials helper; otherwise "".
	Label string
	File  string
	Line  int // from 1; 0 means unknown
}

// Place returns "FILE:LINE", for messages.
func (s Setting) Place() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Reattached returns the providers in text, the value of TF_REATTACH_PROVIDERS, sorted. They are
// running already, for instance under a debugger, so they are not installed. The value is a JSON
// object whose keys are source addresses; its values, which are for clients of the providers, are
// ignored. An empty text means no providers.
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
