package result

import "github.com/tfdeps/tfdeps/command/problem"

// Doctor is what "doctor" tells: what is in effect in a directory, and what is wrong with it. None of its
// texts holds a secret.
type Doctor struct {
	Version   string
	Product   DoctorProduct
	Platform  string
	Directory string
	Config    []DoctorFile
	Sources   []DoctorSource
	Hosts     []DoctorHost
	Network   []DoctorSetting // the proxy and the certificates
	Tokens    []DoctorToken
	Cache     DoctorCache
	Programs  []DoctorProgram
	Policies  []DoctorPolicy

	Problems problem.List
	Color    bool // for people
}

// DoctorProduct is the product whose work tfdeps does.
type DoctorProduct struct {
	Name    string `json:"name"` // "Terraform"
	Version string `json:"version"`
	Because string `json:"because"` // what decides on it: a variable, or that nothing says otherwise
}

// DoctorFile is a file of the CLI configuration, or a place where one would be.
type DoctorFile struct {
	Path     string              `json:"path"`
	Exists   bool                `json:"exists"`
	Settings []DoctorConfigEntry `json:"settings"` // not nil
}

// DoctorConfigEntry is a statement of a file.
type DoctorConfigEntry struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"` // of the block
	Line  int    `json:"line"`
}

// DoctorSource is a place that providers come from.
type DoctorSource struct {
	Kind     string   `json:"kind"` // "direct", "filesystem_mirror", "network_mirror", "oci_mirror", or "mirror" of -mirror
	Location string   `json:"location,omitempty"`
	Include  []string `json:"include,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	NamedBy  string   `json:"named_by,omitempty"` // file and line; "": nothing names it
}

// DoctorHost is a registry or a mirror, and what it answered.
type DoctorHost struct {
	Kind     string            `json:"kind"` // "registry", "network_mirror", "oci_mirror", or "mirror" of -mirror
	Host     string            `json:"host"` // of a mirror, its URL
	Proxy    string            `json:"proxy,omitempty"`
	Services map[string]string `json:"services,omitempty"` // of a registry: URLs
	Provider string            `json:"provider,omitempty"` // whose versions were asked for
	Versions int               `json:"versions,omitempty"` // how many there are
	OK       bool              `json:"ok"`
	Asked    bool              `json:"asked"`
	Error    string            `json:"error,omitempty"`
	Code     string            `json:"code,omitempty"` // of the error
	Took     int64             `json:"took_ms"`        // milliseconds
}

// DoctorSetting is a variable, and what came of it.
type DoctorSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // without user and password
	Found string `json:"found,omitempty"`
}

// DoctorToken says where a host's token is, and not what it is.
type DoctorToken struct {
	Host string `json:"host"`
	From string `json:"from"` // a variable, or a file and line
	For  string `json:"for"`  // "registry" or "packages"
}

// DoctorCache is the shared cache.
type DoctorCache struct {
	Directory  string `json:"directory"` // "": there is none
	NamedBy    string `json:"named_by"`
	Exists     bool   `json:"exists"`
	Usable     bool   `json:"usable"`
	Packages   int    `json:"packages"`
	Size       int64  `json:"size"`
	OnDisk     int64  `json:"size_on_disk"`
	Free       *int64 `json:"free,omitempty"` // nil: not known
	FileSystem string `json:"file_system,omitempty"`
	KeepsTimes bool   `json:"keeps_times"`
	Link       string `json:"link,omitempty"`         // "symlink", "clone", "hardlink", "copy"
	LinkReason string `json:"link_reason,omitempty"`  // why not a better one
	Exposed    string `json:"exposed,omitempty"`      // a directory in which others can exchange what is there
	Receipts   string `json:"receipts,omitempty"`     // where they are; "": none are kept
	Others     int    `json:"packages_not_exclusive"` // packages that others can change
}

// DoctorProgram is a program of a product.
type DoctorProgram struct {
	Program string `json:"program"` // "terraform"
	Path    string `json:"path"`    // "": there is none
	Version string `json:"version,omitempty"`
	IsOwn   bool   `json:"is_tfdeps"`
	Error   string `json:"error,omitempty"`
}

// DoctorPolicy is a file with rules.
type DoctorPolicy struct {
	Path string `json:"path"`
	OK   bool   `json:"ok"`
}

// JSON is the report for programs.
func (d Doctor) JSON() any {
	return Object{
		"tfdeps_version", d.Version, "product", d.Product, "platform", d.Platform, "directory", d.Directory, "cli_configuration", d.Config,
		"sources", d.Sources, "hosts", d.Hosts, "network", d.Network, "tokens", d.Tokens, "cache", d.Cache,
		"programs", d.Programs, "policies", d.Policies, "healthy", !d.Problems.HasErrors(),
	}
}
