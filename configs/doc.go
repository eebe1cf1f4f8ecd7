// Package configs says which providers a working directory requires: those
// of its configuration with all modules, and those that only its state still
// needs.
//
//	found, problems := configs.Read(ctx, dir, configs.Options{Product: getproviders.Terraform("1.15.9")})
//	if problems.HasErrors() {
//		return problems
//	}
//	locks, _, err := installer.Install(ctx, found.Requirements, found.Locks, providercache.Normal)
//
// [Read] takes everything as it lies in the directory: modules have to be installed, which is what a [Resolver] does, and of
// backends only the one that keeps state in local files can be read.
//
// Options.FS is for editors and language servers: the directory is then that of an
// fs.FS, with unsaved buffers, and the disk isn't touched.
//
// Where a backend has the state, what the lock file names is required, too:
// the run that wrote it may have seen the state, and dropping a provider from the
// lock file would be wrong as long as the state may need it.
//
// Nothing is written, nothing is asked of any host, and nothing is printed.
// Problems are data.
package configs
