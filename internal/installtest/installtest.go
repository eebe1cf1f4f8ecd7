// Package installtest has helpers for the tests of all packages that fetch provider packages: sources and
// registries with a few of acme's providers, installers and files. It is for tests only.
package installtest

import (
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// Product, and the Platform of installers and of packages without another one.
var (
	Product = getproviders.Terraform("1.15.9")
	Linux   = getproviders.Platform{OS: "linux", Arch: "amd64"}
)

// OtherPlatforms are further platforms of lock files and mirrors.
var OtherPlatforms = []getproviders.Platform{{OS: "darwin", Arch: "arm64"}, {OS: "windows", Arch: "amd64"}}

// Provider parses an address, and panics if it is invalid.
func Provider(address string) getproviders.Provider {
	p, err := Product.ParseProvider(address)
	if err != nil {
		panic(err)
	}
	return p
}

// Version parses a version, and panics if it is invalid.
func Version(text string) getproviders.Version { return getproviders.MustParseVersion(text) }

// Constraints parses constraints, and panics if they are invalid.
func Constraints(text string) getproviders.Constraints {
	return getproviders.MustParseConstraints(text)
}

// Require makes requirements of pairs of an address and constraints.
func Require(pairs ...string) getproviders.Requirements {
	req := getproviders.Requirements{}
	for i := 0; i < len(pairs); i += 2 {
		req.Add(Provider(pairs[i]), getproviders.Requirement{Constraints: Constraints(pairs[i+1])})
	}
	return req
}

// NewInstaller returns an Installer into a directory that doesn't exist yet.
func NewInstaller(tb testing.TB, source getproviders.Source) *providercache.Installer {
	return &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Platform: Linux, Product: Product},
		Target:  &providercache.Store{Dir: filepath.Join(tb.TempDir(), ".terraform", "providers")},
	}
}

// Install installs, and fails the test on an error.
func Install(tb testing.TB, in *providercache.Installer, req getproviders.Requirements, locks *depsfile.Locks) (*depsfile.Locks, providercache.Report) {
	tb.Helper()
	got, report, err := in.Install(tb.Context(), req, locks, providercache.Normal)
	must.Succeed(tb, err)
	return got, report
}

// Attempt returns the error of an installation.
func Attempt(tb testing.TB, in *providercache.Installer, req getproviders.Requirements, locks *depsfile.Locks) error {
	_, _, err := in.Install(tb.Context(), req, locks, providercache.Normal)
	return err
}

// NothingLeft fails the test if the directory of the Installer, or anything in it, exists.
func NothingLeft(tb testing.TB, in *providercache.Installer) {
	tb.Helper()
	above := filepath.Dir(filepath.Dir(in.Target.Dir)) // made by the test
	must.Len(tb, Tree(tb, above), 0, "left behind")
}

// ProviderErrors splits a joined error.
func ProviderErrors(tb testing.TB, err error) (failures []*getproviders.Fault) {
	tb.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		tb.Fatalf("%v (%T) is no joined error", err, err)
	}
	for _, one := range joined.Unwrap() {
		failure, ok := one.(*getproviders.Fault)
		if !ok {
			tb.Fatalf("%v (%T) is no *Fault", one, one)
		}
		failures = append(failures, failure)
	}
	return failures
}

// Again returns a new Fetcher with the fields of f, as the next run of a program would make it: a Fetcher reads its fields
// at its first use.
func Again(f *providercache.Fetcher) *providercache.Fetcher {
	return &providercache.Fetcher{
		Source: f.Source, Client: f.Client, Platform: f.Platform, Product: f.Product, Limits: f.Limits, Observe: f.Observe, Now: f.Now, StateDir: f.StateDir,
		Verify: f.Verify, StrictTimes: f.StrictTimes, HashPolicy: f.HashPolicy, ArchiveDir: f.ArchiveDir, Policy: f.Policy,
	}
}
