package cliconfig

import (
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Config is the content of all files of the CLI configuration, and of the environment variables
// that replace a part of it.
type Config struct {
	// Hosts has the services of each host block by identifier, such as "providers.v1". Their URLs
	// may be relative to the host's discovery URL. A host in Hosts offers only these services, none
	// if its map is empty. getproviders.Discovery takes this map as Forced.
	Hosts map[hosts.Hostname]map[string]string

	// Tokens has the tokens of the credentials blocks and of credentials.tfrc.json. The host of a
	// block without a token has an empty one: requests to it have no token, and the helper isn't
	// asked.
	Tokens *hosts.Tokens

	// Helper is the program that is asked for the tokens of other hosts; nil means none.
	Helper *CredentialsHelper

	// Installation lists where providers may come from, in the order of the provider_installation
	// block. Nil means that there is no such block, so the default places apply (see
	// ImpliedMirrorDirs). An empty list means that nothing may be installed.
	Installation []Method

	// OCI has the settings of OCI registries, which OpenTofu knows.
	OCI cliblock.OCI

	// DevOverrides maps each provider that its developer runs from a local directory to that
	// directory. It may be relative to the working directory. Such a provider isn't installed.
	DevOverrides map[getproviders.Provider]string

	// PluginCacheDir is the shared cache of the configuration or of TF_PLUGIN_CACHE_DIR; "" means
	// none. It needn't exist.
	PluginCacheDir string

	// Settings are the statements of the files, in their order, with their positions. They leave
	// out statements without effect in this module.
	Settings []cliblock.Setting
	// Files are the files that were read, in order, including those with problems.
	Files []string
}

// CredentialsHelper names a program by its file name without "terraform-credentials-". See
// [User.FindHelper].
type CredentialsHelper struct {
	Name string
	args []string // precede the protocol's arguments
}

// Method is one installation method: a block inside provider_installation.
type Method struct {
	Kind MethodKind
	// Location is the path of a filesystem mirror as it was written, relative to the working
	// directory; or the URL of a network mirror, which getproviders.NewNetworkMirrorSource accepts;
	// or "" for Direct.
	Location string
	// Include and Exclude say for which providers the method is asked: those that match no pattern
	// of Exclude and, unless Include is empty, at least one of Include.
	Include, Exclude []getproviders.Pattern
	// retries is download_retry_count: how often a download is tried again; nil if not set.
	// trustAll is trust_all_hashes: all hashes that a network mirror lists are trusted. Both exist
	// in OpenTofu only.
	retries  *int
	trustAll bool
	Template cliblock.RepositoryTemplate // Location of an OCIMirror, parsed
	File     string                      // the file with the block
	Line     int
}

// MethodKind is the kind of an installation method.
type MethodKind int

// The kinds of installation methods. The zero MethodKind is invalid.
const (
	Direct           MethodKind = iota + 1 // each provider from its origin registry
	FilesystemMirror                       // from a directory
	NetworkMirror                          // from a server that speaks the mirror protocol
	OCIMirror                              // from a registry of container images: see SourceOptions.OCIMirror
)

// methodKinds has the name of each kind, and the argument with the location that it needs.
var methodKinds = [...]struct{ name, needs string }{
	{name: "unknown"}, Direct: {"direct", ""}, FilesystemMirror: {"filesystem_mirror", "path"},
	NetworkMirror: {"network_mirror", "url"}, OCIMirror: {"oci_mirror", "repository_template"},
}

// String returns the kind as the CLI configuration writes it.
func (k MethodKind) String() string {
	if k < 0 || int(k) >= len(methodKinds) {
		k = 0
	}
	return methodKinds[k].name
}

// Problem is a problem with the CLI configuration.
type Problem struct {
	Warning bool   // the run may go on
	Code    string // for programs; "" means a mistake in the configuration
	Summary string // the kind of problem in a few words
	Detail  string // the mistake and the remedy in sentences, without tokens
	File    string
	Line    int // from 1; 0 if unknown, or for the whole file: then Detail names the file
}
