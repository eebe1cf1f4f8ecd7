// Package configs returns which providers a working directory requires: those of its configuration
// with all modules, and those that only its state still needs.
//
//	found, problems := configs.Read(ctx, dir, configs.Options{Product: getproviders.Terraform("1.15.9")})
//	if problems.HasErrors() {
//		return problems
//	}
//	locks, _, err := installer.Install(ctx, found.Requirements, found.Locks, providercache.Normal)
//
// [Read] reads the directory as it is: a [Resolver] must have installed the modules, and only state in local files can be
// read.
//
// Options.FS is for editors and language servers: the directory is then in an fs.FS, with unsaved buffers, and the disk
// isn't read.
//
// If a remote backend has the state, the providers of the lock file are required, too: the run that wrote it may have seen
// the state, and a provider must stay in the lock file while the state may need it.
//
// The package writes nothing, sends no request, and prints nothing. Problems are returned.
package configs
