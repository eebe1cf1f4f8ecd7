package cliconfig

import "github.com/tfdeps/tfdeps/getproviders/hosts"

// Config is the CLI configuration as far as it is understood.
type Config struct {
	// Hosts holds what each host block says: URLs, which may be relative to
	// the host's discovery URL, by service identifier such as "providers.v1". A
	// host that is in here offers nothing else, and nothing at all if its map is
	// empty. It has the form that hosts.Discovery wants.
	Hosts map[hosts.Hostname]map[string]string
	// Unsupported names what stands in the file and is not acted on yet, in
	// the order of the file.
	Unsupported []Unsupported
}

// Unsupported is a block or argument that is not acted on.
type Unsupported struct {
	Name string // "provider_installation"
	File string
	Line int
}

// Problem is something wrong with a CLI configuration file.
type Problem struct {
	Warning bool   // the run may go on
	Summary string // a few words: what kind of problem
	Detail  string // whole sentences: what exactly is wrong, and what would be right
	File    string
	Line    int // from 1; 0: not known, or the file as a whole
}
