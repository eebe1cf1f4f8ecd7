// Package installtest has what the tests of all packages share that get packages of providers: sources and
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

// Product, and the Platform of installers and of packages that name none.
var (
	Product = getproviders.Terraform("1.15.9")
	Linux   = getproviders.Platform{OS: "linux", Arch: "amd64"}
)

// OtherPlatforms are those that lock files and mirrors are made for, too.
var OtherPlatforms = []getproviders.Platform{{OS: "darwin", Arch: "arm64"}, {OS: "windows", Arch: "amd64"}}

// Provider parses an address, and panics if it is none.
func Provider(address string) getproviders.Provider {
	p, err := Product.ParseProvider(address)
	if err != nil {
		panic(err)
	}
	return p
}

// Version parses a version, and panics if it is none.
func Version(text string) getproviders.Version { return getproviders.MustParseVersion(text) }

// Constraints parses constraints, and panics if they are none.
func Constraints(text string) getproviders.Constraints {
	return getproviders.MustParseConstraints(text)
}

// Require makes requirements of pairs of an address and a constraint.
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

// Install installs and fails the test if that fails.
func Install(tb testing.TB, in *providercache.Installer, req getproviders.Requirements, locks *depsfile.Locks) (*depsfile.Locks, providercache.Report) {
	tb.Helper()
	got, report, err := in.Install(tb.Context(), req, locks, providercache.Normal)
	must.Succeed(tb, err)
	return got, report
}

// Attempt is the error of an installation.
func Attempt(tb testing.TB, in *providercache.Installer, req getproviders.Requirements, locks *depsfile.Locks) error {
	_, _, err := in.Install(tb.Context(), req, locks, providercache.Normal)
	return err
}

// NothingLeft fails the test if there is anything in the directory that the Installer would make,
// or the directory itself.
func NothingLeft(tb testing.TB, in *providercache.Installer) {
	tb.Helper()
	above := filepath.Dir(filepath.Dir(in.Target.Dir)) // made by the test
	must.Len(tb, Tree(tb, above), 0, "left behind")
}

// ProviderErrors takes a joined error apart.
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

// Again returns a Fetcher with the fields that f has now, as the next run of a program would make it: what a Fetcher does is
// decided at its first use.
func Again(f *providercache.Fetcher) *providercache.Fetcher {
	return &providercache.Fetcher{
		Source: f.Source, Client: f.Client, Platform: f.Platform, Product: f.Product, Limits: f.Limits, Observe: f.Observe, Now: f.Now, StateDir: f.StateDir,
		Verify: f.Verify, StrictTimes: f.StrictTimes, HashPolicy: f.HashPolicy, ArchiveDir: f.ArchiveDir, Policy: f.Policy,
	}
}
