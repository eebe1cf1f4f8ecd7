package providercache_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/link"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/event"
)

// dieVariable makes the test program install, and exit suddenly at the named place, as if it were killed there. If
// it isn't, its exit code says whether it fetched the package. At "unread" it fails if it reads a package.
const (
	dieVariable = "TFDEPS_TEST_DIE_AT"
	didFail     = 3 // Windows says 1 of a program that was killed
	didFetch    = 4
	didLink     = 5
)

// ofArguments is the Installer of a program that a test starts. The program's arguments are where the archive of acme/widget 1.0.0 is,
// the target directory, the cache and the state directory.
func ofArguments(at getproviders.Location, by installtest.Loader) (*providercache.Installer, *memorySource) {
	source := &memorySource{Packages: map[getproviders.Provider]map[getproviders.Version]getproviders.Package{}}
	source.Add("acme/widget", "1.0.0", at)
	source.Trust("acme/widget", "1.0.0", by)
	source.From("acme/widget", "1.0.0", "the test")
	return &providercache.Installer{
		Fetcher: &providercache.Fetcher{Source: source, Platform: linux, Product: product, StateDir: os.Args[4]},
		Target:  storeIn(os.Args[2]), Cache: storeIn(os.Args[3]),
	}, source
}

func die(where string) {
	if where == "outside" {
		installFromWeb()
	}
	if n, err := strconv.ParseInt(strings.TrimPrefix(where, stepPrefix), 10, 64); err == nil {
		installStepwise(n)
	}
	in, _ := ofArguments(getproviders.LocalArchive(os.Args[1]), &trust{})
	end := didLink
	in.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.Fetching {
			end = didFetch
		}
		if e.Kind == event.Hashing && where == "unread" {
			os.Exit(1)
		}
	}
	if _, _, err := in.Install(context.Background(), widgets, nil, providercache.Normal); err != nil {
		os.Exit(1)
	}
	os.Exit(end)
}

// noStages fails the test if there is anything unfinished in directories of packages.
func noStages(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		must.Equal(t, stagingDirs(tree(t, dir)), 0, dir)
	}
}

func stagingDirs(names []string) (n int) {
	for _, name := range names {
		if strings.HasPrefix(name, ".tfdeps-") && !strings.Contains(name, "/") {
			n++
		}
	}
	return n
}

// stepPrefix begins the values of dieVariable that are numbers: the program kills itself after that many calls of its
// source, context, clock and observer. So a kill hits between any two of these calls, in an order that hardly changes.
const stepPrefix = "step-"

// stepping counts these calls.
type stepping struct {
	*memorySource
	context.Context
	left atomic.Int64
}

func (s *stepping) step() {
	if s.left.Add(-1) == 0 {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			os.Exit(didFail)
		}
		select {} // until the signal arrives
	}
}

// Err implements context.Context.
func (s *stepping) Err() error { s.step(); return s.Context.Err() }

func (s *stepping) Versions(ctx context.Context, p getproviders.Provider) (getproviders.Available, error) {
	s.step()
	return s.memorySource.Versions(ctx, p)
}

func (s *stepping) Package(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	s.step()
	return s.memorySource.Package(ctx, p, v, plat)
}

func (s *stepping) now() time.Time { s.step(); return time.Now() }

// Authenticate implements getproviders.Authenticator.
func (s *stepping) Authenticate(getproviders.Digests) (getproviders.AuthenticationResult, error) {
	s.step()
	return getproviders.AuthenticationResult{}, nil
}

// Load implements getproviders.Trust.
func (s *stepping) Load(context.Context) (getproviders.Authenticator, error) { s.step(); return s, nil }

// installStepwise is the program that is killed. Its last argument is how to link.
func installStepwise(steps int64) {
	s := &stepping{Context: context.Background()}
	s.left.Store(steps)
	in, source := ofArguments(getproviders.LocalArchive(os.Args[1]), s)
	s.memorySource = source
	in.Fetcher.Source, in.Fetcher.Now = s, s.now
	in.Fetcher.Observe = func(_ context.Context, _ event.Event) { s.step() }
	mode, err := link.ParseMode(os.Args[5])
	if in.Link = mode; err == nil {
		_, _, err = in.Install(s, widgets, nil, providercache.Normal)
	}
	if err != nil {
		os.Exit(didFail)
	}
	os.Exit(0)
}

// TestInstall_AProcessMayBeKilledAtEachStep kills a process at its first step, another at its
// second, and so on, until one succeeds: while it fetches, and while it links from the cache. The
// next run installs everything, and leaves nothing of the killed one.
func TestInstall_AProcessMayBeKilledAtEachStep(t *testing.T) {
	needsReceipts(t)
	source := newSource(t)
	source.AddZip(t, "acme/widget", "1.0.0", zipOf(t, map[string]string{"terraform-provider-widget": "the provider", "LICENSE": "free"}))
	source.From("acme/widget", "1.0.0", "the test")
	archive := source.Packages[acmeWidget][v1].Location.String()
	stride := peertest.Stride(7)
	for name, c := range map[string]struct {
		mode  providercache.LinkMode
		state string // what the cache had before
	}{
		"fetch":           {providercache.LinkAuto, ""},
		"fetch for links": {providercache.LinkSymlink, ""},
		"hard link":       {providercache.LinkHardlink, "sound"},
		"copy":            {providercache.LinkCopy, "sound"},
		"exchange":        {providercache.LinkCopy, "damaged"},
	} {
		if testing.Short() && name != "fetch for links" && name != "exchange" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killed := 0
			for n := stride; ; n += stride {
				dir := t.TempDir()
				next := newInstaller(t, source)
				next.Link, next.Fetcher.StateDir = c.mode, filepath.Join(dir, "state")
				next.Cache = storeIn(dir, "cache")
				if c.state != "" {
					install(t, next, widgets, nil)
				}
				if c.state == "damaged" {
					write(t, filepath.Join(next.Cache.Dir, packageDir("acme/widget", "1.0.0"), "LICENSE"), "gone")
				}
				next.Target = storeIn(dir, "target")
				victim := exec.CommandContext(t.Context(), os.Args[0], archive, next.Target.Dir, next.Cache.Dir, next.Fetcher.StateDir, c.mode.String())
				victim.Env = append(os.Environ(), dieVariable+"="+stepPrefix+strconv.Itoa(n))
				err := victim.Run()
				if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == didFail {
					t.Fatalf("%d: it failed", n)
				}
				checkAfterKill(t, n, next)
				if err == nil {
					break
				}
				killed++
			}
			if killed < 20/stride {
				t.Errorf("%d were killed, so this test shows little", killed)
			}
		})
	}
}

// checkAfterKill installs after a process was killed, and checks what is there then.
func checkAfterKill(t *testing.T, n int, next *providercache.Installer) {
	t.Helper()
	shape := strings.Join(tree(t, filepath.Dir(next.Cache.Dir)), " ")
	inCache := filepath.Join(next.Cache.Dir, packageDir("acme/widget", "1.0.0"), "LICENSE")
	content, _ := os.ReadFile(inCache)
	next.Fetcher.Observe = func(_ context.Context, e event.Event) {
		if e.Kind == event.Fetching && string(content) == "free" {
			t.Errorf("%d: what the kill had left in the cache is fetched again: %s", n, shape)
		}
	}
	install(t, next, widgets, nil)
	for _, root := range []string{next.Target.Dir, next.Cache.Dir} {
		dir := filepath.Join(root, packageDir("acme/widget", "1.0.0"))
		must.Equal(t, read(t, filepath.Join(dir, "terraform-provider-widget"))+read(t, filepath.Join(dir, "LICENSE")), "the providerfree", root)
		noStages(t, root)
	}
	isSound(t, next.Cache.Dir, next.Fetcher.StateDir, 1)
}
