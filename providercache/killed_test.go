package providercache_test

import (
	"context"
	"os"
	"strconv"
	"strings"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// dieVariable makes the test program install, and end suddenly at the place that it names, as if
// it were killed there. Its arguments are the package's archive and the target directory, and if
// given, a cache and a state directory. It ends when all is done, with another exit code if it
// fetched the package. At "unread" it fails if it read a package.
const (
	dieVariable = "TFDEPS_TEST_DIE_AT"
	didFetch    = 4
	didLink     = 5
)

func die(where string) {
	if where == "outside" {
		installFromWeb()
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(where, stepPrefix), 10, 64); err == nil {
		installStepwise(n)
	}
	source := &memorySource{Packages: map[getproviders.Provider]map[getproviders.Version]getproviders.Package{}}
	source.Add("acme/widget", "1.0.0", getproviders.LocalArchive(os.Args[1]))
	source.Trust("acme/widget", "1.0.0", &trust{})
	source.From("acme/widget", "1.0.0", "the test")
	in := &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Platform: linux, Product: product},
		Target:  &providercache.Store{Dir: os.Args[2]},
	}
	if len(os.Args) > 3 {
		in.Cache, in.Fetcher.StateDir = &providercache.Store{Dir: os.Args[3]}, os.Args[4]
	}
	end := didLink
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.Fetching {
			end = didFetch
		}
		if e.Kind == event.Hashing && where == "unread" {
			os.Exit(1)
		}
	}
	_, _, err := in.Install(context.Background(), widgets, nil, providercache.Normal)
	if err != nil {
		os.Exit(1)
	}
	os.Exit(end)
}

func stagingDirs(names []string) (n int) {
	for _, name := range names {
		if strings.HasPrefix(name, ".tfdeps-") && !strings.Contains(name, "/") {
			n++
		}
	}
	return n
}
