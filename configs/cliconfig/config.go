package cliconfig

import (
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cliblock"
	"github.com/tfdeps/tfdeps/internal/hosts"
)

// Config is what all files of the CLI configuration say together, and those
// variables that stand in for a part of it.
type Config struct {
	// Hosts holds what each host block says: URLs, which may be relative to
	// the host's discovery URL, by service identifier such as "providers.v1". A
	// host that is in here offers nothing else, and nothing at all if its map is
	// empty. It has the form that hosts.Discovery wants.
	Hosts map[hosts.Hostname]map[string]string

	// Tokens holds what the credentials blocks say, those of
	// credentials.tfrc.json among them. A block without a token is there too:
	// its host is asked without one, and no helper is asked for it.
	Tokens *hosts.Tokens

	// Helper is the program that is asked for the tokens of other hosts; nil:
	// none.
	Helper *CredentialsHelper

	// Installation lists where providers may come from, in the order of the
	// provider_installation block. Nil: there is no such block, so that the
	// usual places apply (see ImpliedMirrorDirs). Empty, but not nil: nothing may be
	// installed.
	Installation []Method

	// OCI is what is said about OCI registries, in OpenTofu's place.
	OCI cliblock.OCI

	// DevOverrides holds, for each provider that its developer runs from a
	// directory of their own, that directory. It may be relative to the
	// working directory. Such a provider isn't installed.
	DevOverrides map[getproviders.Provider]string

	// PluginCacheDir is the shared cache that the user named, as it is or in
	// TF_PLUGIN_CACHE_DIR; "": none. It need not exist.
	PluginCacheDir string

	// Settings are the statements that were read, file by file, each with its place.
	// Statements without effect for this module aren't among them.
	Settings []cliblock.Setting
	// Files are the files that were read, those with problems included, in their order.
	Files []string
}

// CredentialsHelper names a program by the part of its file name that follows
// "terraform-credentials-". See [User.FindHelper].
type CredentialsHelper struct {
	Name string
	args []string // come before those that the protocol asks for
}

// Method is one installation method: a block inside provider_installation.
type Method struct {
	Kind MethodKind
	// Location is the path of a filesystem mirror, as it was written, relative
	// ones relative to the working directory; or the URL of a network mirror,
	// which getproviders.NewNetworkMirrorSource accepts; or "" for Direct.
	Location string
	// Include and Exclude say for which providers the method is asked: those
	// that match no pattern of Exclude and, unless Include is empty, one of
	// Include.
	Include, Exclude []getproviders.Pattern
	// retries is how often a download is tried again, as download_retry_count says; nil: the
	// block doesn't say. TrustAll takes all hashes that a network mirror lists for trusted
	// ones. Both are OpenTofu's.
	retries  *int
	trustAll bool
	Template cliblock.RepositoryTemplate // Location of an OCIMirror, read
	File     string                      // where the block stands
	Line     int
}

// MethodKind tells installation methods apart.
type MethodKind int

// The kinds of installation methods. The zero MethodKind is not one of them.
const (
	Direct           MethodKind = iota + 1 // each provider from its origin registry
	FilesystemMirror                       // from a directory
	NetworkMirror                          // from a server that speaks the mirror protocol
	OCIMirror                              // from a registry of container images: see SourceOptions.OCIMirror
)

// methodKinds has their names, and the argument with the location that a method needs.
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

// Problem is something wrong with the CLI configuration.
type Problem struct {
	Warning bool   // the run may go on
	Code    string // names it for programs; "": it is a mistake in the configuration
	Summary string // a few words: what kind of problem
	Detail  string // whole sentences: what exactly is wrong, and what would be right; never a token
	File    string
	Line    int // from 1; 0: not known, or the file as a whole
}
