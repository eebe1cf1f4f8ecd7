package providercache_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
)

func ExampleInstaller_Install() {
	source, client, widget, dir, closeAll := exampleSource()
	defer closeAll()

	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Client: client, Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}},
		Target:  &providercache.Store{Dir: filepath.Join(dir, ".terraform", "providers")},
	}
	required := getproviders.Requirements{}
	required.Add(widget, getproviders.Requirement{Constraints: getproviders.MustParseConstraints("~> 1.0")})
	locks, report, err := installer.Install(context.Background(), required, nil, providercache.Normal)
	if err != nil {
		log.Fatal(err)
	}
	lock, _ := locks.Provider(widget)
	fmt.Printf("version %s, %d hashes, %s\n", lock.Version, len(lock.Hashes), report.Outcomes[0].Authentication.TrustLevel)
	// Output: version 1.1.0, 2 hashes, self-signed
}

func ExampleInstaller_Ensure() {
	source, client, widget, dir, closeAll := exampleSource()
	defer closeAll()

	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Client: client, Platform: getproviders.Platform{OS: "linux", Arch: "amd64"}},
		Target:  &providercache.Store{Dir: dir},
	}
	installed, err := installer.Ensure(context.Background(), widget, getproviders.MustParseConstraints(">= 1.0"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(installed.Version, filepath.Base(installed.Executable))
	// Output: 1.1.0 terraform-provider-widget_v1.1.0
}

func ExampleFetcher_Hashes() {
	source, client, widget, _, closeAll := exampleSource()
	defer closeAll()

	fetcher := &providercache.Fetcher{Source: source, Client: client}
	platforms := []getproviders.Platform{{OS: "linux", Arch: "amd64"}}
	hashes, err := fetcher.Hashes(context.Background(), widget, getproviders.MustParseVersion("1.0.0"), platforms)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hashes[platforms[0]] {
		fmt.Println(h.Scheme())
	}
	// Output:
	// h1
	// zh
}

func Example_lock() {
	source, client, widget, _, closeAll := exampleSource()
	defer closeAll()

	installer := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Client: client},
	}
	required := getproviders.Requirements{}
	required.Add(widget, getproviders.Requirement{Constraints: getproviders.MustParseConstraints("~> 1.0")})
	results, err := installer.Fetcher.Lock(context.Background(), providercache.LockRequest{
		Requirements: required,
		Platforms:    []getproviders.Platform{{OS: "linux", Arch: "amd64"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range results[0].Packages {
		fmt.Println(p.Version, p.Platform, p.H1.Scheme(), p.ZH.Scheme())
	}
	// Output: 1.1.0 linux_amd64 h1 zh
}
