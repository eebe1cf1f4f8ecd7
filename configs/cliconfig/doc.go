// Package cliconfig reads the CLI configuration, which people know as
// .terraformrc: what a user says about hosts, credentials and the places that
// packages come from, for all working directories.
//
//	at := cliconfig.Find(user, product)
//	config, problems := cliconfig.Read(at, user.Getenv, product)
//	source, err := config.Source(ctx, cliconfig.SourceOptions{Product: product, User: user})
//
// [Find] tells where the files are, and [Read] reads them. [Config.Network] makes
// the HTTP clients and credentials that the configuration asks for, and
// [Config.Source] the source of providers that it describes; the example of the
// latter does all of it. A file is in HCL 1
// syntax or, if its first character is "{", in JSON. Keys are compared without
// regard to case, but for the "token" of a credentials block. Unknown keys are
// ignored. Every mistake is reported as a [Problem] with its place;
// what can be understood of a file is always returned beside the problems.
//
// What people put into the wrong place of such a file may be a secret: no
// message repeats values of credentials blocks or what can't be parsed, and a
// Config prints without its tokens.
//
// Where this package differs from Terraform, which goes on after all
// problems:
//
//   - JSON must be valid JSON. Terraform ends reading at some mistakes without a
//     word, so that the rest of the file, a provider_installation block for
//     instance, has no effect.
//   - In JSON, an installation method may be an object or a list of objects. The
//     Terraform wants the list; {"direct": {}} means no method at all to it.
//   - A providers or modules service of a host block must be a URL, and the token of
//     a credentials block a string. Terraform notices the one only when it
//     needs the service, goes without a token that is a number or a list,
//     and crashes over a map.
//   - A network mirror may have an http URL on loopback.
//   - A variable in dev_overrides that is set, but empty, is a mistake like
//     one that isn't set.
//   - A plugin cache directory that doesn't exist is no mistake: installing
//     creates it.
//   - Of two blocks for the same host whose names differ in case, the later
//     one counts; with Terraform it is either.
//
// For OpenTofu, which reads .tofurc, Terraform's file is read if there is no other. From a
// mirror in an OCI registry nothing can be installed: a provider that is looked for in one is an
// error. That registry_protocols has no effect here is no mistake, as it decides nothing about
// which packages are right.
//
// The package reads no environment of its own accord and prints nothing: its
// caller says where the variables come from ([User]) and what to do about problems.
package cliconfig
