// Package cliconfig reads the CLI configuration, known as .terraformrc: a user's settings of hosts,
// credentials and sources of packages, for all working directories.
//
//	at := cliconfig.Find(user, product)
//	config, problems := cliconfig.Read(ctx, at, user.Getenv, product)
//	source, err := config.Source(ctx, cliconfig.SourceOptions{Product: product, User: user})
//
// [Find] returns where the files are, and [Read] reads them. [Config.Network] makes the HTTP
// clients and credentials that the configuration asks for, and [Config.Source] the source of
// providers that it describes; the example of Source shows all of it. A file has HCL 1 syntax, or
// JSON if its first character is "{". Keys are compared without regard to case, except the "token"
// of a credentials block. Unknown keys are ignored. Every mistake is reported as a [Problem] with
// its position; the valid parts of a file are always returned beside the problems.
//
// Users may put secrets into the wrong place of such a file: no message repeats values of
// credentials blocks or text that can't be parsed, and a Config prints without its tokens.
//
// Differences from Terraform, which continues after all problems:
//
//   - JSON must be valid. Terraform stops reading at some mistakes without a
//     message, so that the rest of the file, such as a provider_installation block,
//     has no effect.
//   - In JSON, an installation method may be an object or a list of objects.
//     Terraform needs the list: for it {"direct": {}} has no method.
//   - A providers or modules service of a host block must be a URL, and the token of
//     a credentials block a string. Terraform reports a wrong service only when it
//     needs it, ignores a token that is a number or a list, and crashes over a map.
//   - A network mirror may have an http URL on a loopback address.
//   - A variable in dev_overrides that is set but empty is a mistake, like
//     one that isn't set.
//   - A plugin cache directory that doesn't exist is no mistake: installing
//     creates it.
//   - If the names of two blocks for the same host differ in case, the later
//     block counts; Terraform takes either.
//
// For OpenTofu, Terraform's file is read if there is no .tofurc. OCI registries need
// [SourceOptions].OCIMirror: without it, looking for a provider in an oci_mirror block is an error.
// registry_protocols has no effect here and is accepted, because it doesn't decide which packages
// are right.
//
// The package reads no environment variables itself and prints nothing: its caller passes the
// variables ([User]) and handles the problems.
package cliconfig
