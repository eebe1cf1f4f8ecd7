package providercache_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfdeps/tfdeps/depsfile"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
	"github.com/tfdeps/tfdeps/providercache"
	"github.com/tfdeps/tfdeps/providercache/fetcher"
	"github.com/tfdeps/tfdeps/providercache/resolve"
	"github.com/tfdeps/tfdeps/providercache/store"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(dieVariable); where != "" {
		die(where)
	}
	providertest.UsualUmask()
	goleak.VerifyTestMain(m)
}

var (
	product = getproviders.Terraform("1.15.9")
	linux   = getproviders.Platform{OS: "linux", Arch: "amd64"}
)

func provider(address string) getproviders.Provider {
	p, err := product.ParseProvider(address)
	if err != nil {
		panic(err)
	}
	return p
}

func version(text string) getproviders.Version { return getproviders.MustParseVersion(text) }

func constraints(text string) getproviders.Constraints {
	return getproviders.MustParseConstraints(text)
}

// require makes requirements of pairs of an address and a constraint.
func require(pairs ...string) getproviders.Requirements {
	req := getproviders.Requirements{}
	for i := 0; i < len(pairs); i += 2 {
		req.Add(provider(pairs[i]), getproviders.Requirement{Constraints: constraints(pairs[i+1])})
	}
	return req
}

// zipOf makes an archive of files; a name with a slash at the end is a
// directory.
func zipOf(tb testing.TB, files map[string]string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestSpeed) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		header.SetMode(0o755)
		entry, err := w.CreateHeader(header)
		if err == nil {
			_, err = io.WriteString(entry, files[name])
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// memorySource is a Source of packages that a test made. It is set up before it is used.
type memorySource struct {
	dir      string
	packages map[getproviders.Provider]map[getproviders.Version]getproviders.Package
	broken   map[getproviders.Provider]error
	warnings map[getproviders.Provider][]string

	mu       sync.Mutex
	versions int // how often it was asked for versions, and for packages
	metadata int
	located  int // questions for a SourceURL, which count as metadata, too
}

func newSource(tb testing.TB) *memorySource {
	return &memorySource{
		dir:      tb.TempDir(),
		packages: map[getproviders.Provider]map[getproviders.Version]getproviders.Package{},
		broken:   map[getproviders.Provider]error{},
		warnings: map[getproviders.Provider][]string{},
	}
}

// add publishes a package at a location.
func (s *memorySource) add(address, v string, at getproviders.Location) {
	p := provider(address)
	if s.packages[p] == nil {
		s.packages[p] = map[getproviders.Version]getproviders.Package{}
	}
	s.packages[p][version(v)] = getproviders.Package{Provider: p, Version: version(v), Platform: linux, Location: at}
}

// loader loads what a package is authenticated by.
type loader interface {
	Load(ctx context.Context) (getproviders.Authenticator, error)
}

// trust lets a package be authenticated by what by loads; nil: by nothing.
func (s *memorySource) trust(address, v string, by loader) {
	pkg := s.packages[provider(address)][version(v)]
	pkg.Trust = getproviders.Trust{}
	if by != nil {
		pkg.Trust.Load = func(ctx context.Context) (getproviders.Trust, error) {
			authenticator, err := by.Load(ctx)
			if hashes, ok := authenticator.(getproviders.AnyHash); ok {
				return hashes.Trust(), err
			}
			return getproviders.Trust{Authenticator: authenticator}, err
		}
	}
	if known, ok := by.(expected); ok {
		pkg.Trust.ExpectedSHA256 = known
	}
	s.packages[provider(address)][version(v)] = pkg
}

// from gives a package a source URL.
func (s *memorySource) from(address, v, origin string) {
	pkg := s.packages[provider(address)][version(v)]
	pkg.SourceURL = origin
	s.packages[provider(address)][version(v)] = pkg
}

// addZip publishes a local archive, by default one with an executable only.
func (s *memorySource) addZip(tb testing.TB, address, v string, archive ...[]byte) {
	tb.Helper()
	p := provider(address)
	content := append(archive, nil)[0]
	if content == nil {
		content = zipOf(tb, map[string]string{"terraform-provider-" + p.Type: "provider " + v + "\n"})
	}
	path := filepath.Join(s.dir, getproviders.PackedName(p, version(v), linux))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	s.add(address, v, getproviders.LocalArchive(path))
}

func (s *memorySource) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions++
	if err := s.broken[p]; err != nil {
		return getproviders.Available{}, err
	}
	if s.packages[p] == nil {
		return getproviders.Available{}, getproviders.ErrProviderNotFound
	}
	return getproviders.Available{Versions: slices.Collect(maps.Keys(s.packages[p])), Warnings: s.warnings[p]}, nil
}

func (s *memorySource) Package(_ context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metadata++
	pkg, ok := s.packages[p][v]
	switch {
	case !ok:
		return getproviders.Package{}, getproviders.ErrVersionNotFound
	case plat != linux:
		return getproviders.Package{}, getproviders.ErrPlatformMissing
	}
	return pkg, nil
}

func (s *memorySource) SourceURL(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (string, error) {
	s.mu.Lock()
	s.located++
	s.mu.Unlock()
	pkg, err := s.Package(ctx, p, v, plat)
	return pkg.SourceURL, err
}

func (s *memorySource) Describe(getproviders.Provider) string { return "memory" }

// newInstaller returns an Installer into a directory that doesn't exist yet.
func newInstaller(tb testing.TB, source getproviders.Source) *providercache.Installer {
	return &providercache.Installer{
		Fetcher: &fetcher.Fetcher{Source: source, Platform: linux, Product: product},
		Target:  &store.Store{Dir: filepath.Join(tb.TempDir(), ".terraform", "providers")},
	}
}

// install installs and fails the test if that fails.
func install(tb testing.TB, in *providercache.Installer, req getproviders.Requirements, locks *depsfile.Locks) (*depsfile.Locks, providercache.Report) {
	tb.Helper()
	got, report, err := in.Install(tb.Context(), req, locks, resolve.Normal)
	if err != nil {
		tb.Fatal(err)
	}
	return got, report
}

// tree lists all that is in a directory, with slashes, sorted: "a", "a/b",
// "c -> target". A directory that doesn't exist has nothing.
func tree(tb testing.TB, dir string) []string {
	tb.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if target, linkErr := os.Readlink(path); linkErr == nil {
			name += " -> " + target
		}
		names = append(names, name)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	return names
}

// files lists the files of tree, without directories.
func files(tb testing.TB, dir string) []string {
	return slices.DeleteFunc(tree(tb, dir), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil && info.IsDir() && !strings.Contains(name, " -> ")
	})
}

// packageDir is where a package is, relative to Target and with slashes.
func packageDir(address, v string) string {
	return getproviders.UnpackedPath(provider(address), version(v), linux)
}

// nothingLeft fails the test if there is anything in the directory that the Installer would make,
// or the directory itself.
func nothingLeft(tb testing.TB, in *providercache.Installer) {
	tb.Helper()
	above := filepath.Dir(filepath.Dir(in.Target.Dir)) // made by the test
	if left := tree(tb, above); len(left) > 0 {
		tb.Errorf("left behind: %q", left)
	}
}

// write makes a file with its parents.
func write(tb testing.TB, path, content string) {
	tb.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o755)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(content)
}

func httpArchive(tb testing.TB, rawURL string) getproviders.HTTPArchive {
	tb.Helper()
	u, err := url.Parse(rawURL)
	must(tb, err)
	return getproviders.HTTPArchive{URL: u}
}
