// Package cliconfig reads the CLI configuration, which people know as
// .terraformrc: what a user says about hosts, credentials and the places that
// packages come from, for all working directories.
//
// A file is in HCL 1 syntax or, if its first character is "{", in JSON. Keys are
// compared without regard to case. Keys that nobody knows are ignored; those
// that are known, but not acted on, are listed in Config.Unsupported, so
// that nobody believes that they have an effect. Every mistake is reported as a
// Problem with its place; what can be understood of a file is always returned
// beside the problems.
//
// Where this package differs from the real tool: JSON must be valid JSON. The
// real tool ends reading at some mistakes without a word, so that the rest of
// the file, a provider_installation block for instance, has no effect. And a
// providers or modules service of a host block must be a URL, while the real tool
// only notices when it needs the service.
//
// The package doesn't read the environment, prints nothing, and decides nothing: its
// caller says which file to read and what to do about problems.
package cliconfig
