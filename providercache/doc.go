// Package providercache installs provider packages: it puts bytes on disk, and
// only those that the source, its signatures and the lock file agree about.
//
//	random, err := getproviders.Terraform("1.15.9").ParseProvider("hashicorp/random")
//	installer := &providercache.Installer{
//		Fetcher: &providercache.Fetcher{Source: &getproviders.RegistrySource{}},
//		Target:  &providercache.Store{Dir: ".terraform/providers"},
//	}
//	installed, err := installer.Ensure(ctx, random, getproviders.MustParseConstraints("~> 3.0"))
//	fmt.Println(installed.Version, installed.Executable)
//
// All that a working directory requires, as its lock file says:
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
//	resolve    a version for each provider; asks the source for what isn't locked
//	inspect    what the target directory and the cache hold of these versions
//	plan       which packages are present, which are in the cache, which have to be fetched
//	carry out  fetch, authenticate, unpack, publish, link; many providers at once
//	conclude   the new locks, or all errors
//
// # Guarantees
//
// A package appears in the target directory by one rename, when it has been
// verified as a whole, and nothing is ever written into one that is there. No
// archive is requested before all metadata shows that every provider can be
// installed; the error joins those of all that failed. When the
// context ends, every method returns within moments, and leaves no unfinished
// packages. Many goroutines and many processes may install into one directory
// and by way of one cache at the same time, with or without file locks. The
// package never prints, holds no credentials and reads no environment, except
// for the system's directory for temporary files.
//
// docs/engine.md explains the guarantees, the cache, receipts, the order of checks, and how this differs from Terraform and
// OpenTofu.
package providercache
