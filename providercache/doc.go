// Package providercache downloads, verifies and installs provider packages. It installs
// only packages that match what their source, its signatures and the lock file say.
//
//	random, err := getproviders.Terraform("1.15.9").ParseProvider("hashicorp/random")
//	installer := &providercache.Installer{
//		Fetcher: &providercache.Fetcher{Source: &getproviders.RegistrySource{}},
//		Target:  &providercache.Store{Dir: ".terraform/providers"},
//	}
//	installed, err := installer.Ensure(ctx, random, getproviders.MustParseConstraints("~> 3.0"))
//	fmt.Println(installed.Version, installed.Executable)
//
// To install everything that a working directory requires, in the versions of its lock file:
//
//	found, problems := configs.Read(ctx, ".", configs.Options{})
//	locks, report, err := installer.Install(ctx, found.Requirements, found.Locks, providercache.Normal)
//	err = locks.Save(depsfile.FileName, installer.Fetcher.Product)
//
// [Installer.Plan] and [Installer.Check] say what Install would do, [Installer.EnsureAll]
// installs many providers without a lock file, and [Installer.Prefetch] fills a cache.
//
// An installation has five phases, each of which hands a value to the next:
//
//	resolve    a version for each provider; asks the source for those that aren't locked
//	inspect    which of these packages the target directory and the cache already hold
//	plan       which packages are present, which are in the cache, which have to be fetched
//	carry out  fetch, authenticate, unpack, publish, link; many providers at once
//	conclude   the new locks, or all errors
//
// # Guarantees
//
// A package appears in the target directory by one rename, after all of it was verified, and nothing is ever
// written into a package that is there. No archive is requested before the metadata of all providers shows that
// they can be installed; the error joins those of all providers that failed. When the context ends, every method
// returns within moments and leaves no unfinished packages. Many goroutines and processes may install into one
// directory and through one cache at the same time, with or without file locks. The package never prints, holds no
// credentials and reads no environment variables, except for the directory of temporary files.
//
// docs/engine.md explains the guarantees, the cache, receipts, the order of checks, and how this differs from Terraform and
// OpenTofu.
package providercache
