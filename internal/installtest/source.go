package installtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// Source is a Source of packages made by a test. Set it up before its first use.
type Source struct {
	Dir      string // the directory of local archives
	Packages map[getproviders.Provider]map[getproviders.Version]getproviders.Package
	Broken   map[getproviders.Provider]error
	Warnings map[getproviders.Provider][]string

	mu            sync.Mutex
	VersionsAsked int // the number of requests for versions
	MetadataAsked int
	Located       int // requests for a SourceURL, which count in MetadataAsked, too
}

// NewSource returns an empty source.
func NewSource(tb testing.TB) *Source {
	return &Source{
		Dir:      tb.TempDir(),
		Packages: map[getproviders.Provider]map[getproviders.Version]getproviders.Package{},
		Broken:   map[getproviders.Provider]error{},
		Warnings: map[getproviders.Provider][]string{},
	}
}

// Add publishes a package at a location.
func (s *Source) Add(address, v string, at getproviders.Location) {
	p := Provider(address)
	if s.Packages[p] == nil {
		s.Packages[p] = map[getproviders.Version]getproviders.Package{}
	}
	s.Packages[p][Version(v)] = getproviders.Package{Provider: p, Version: Version(v), Platform: Linux, Location: at}
}

// Loader loads the authenticator of a package.
type Loader interface {
	Load(ctx context.Context) (getproviders.Authenticator, error)
}

// Trust lets by authenticate a package; nil means no authentication.
func (s *Source) Trust(address, v string, by Loader) {
	pkg := s.Packages[Provider(address)][Version(v)]
	pkg.Trust = getproviders.Trust{}
	if by != nil {
		pkg.Trust.Load = func(ctx context.Context) (getproviders.Trust, error) {
			authenticator, err := by.Load(ctx)
			if hashes, ok := authenticator.(getproviders.AnyHash); ok {
				return getproviders.TrustedBy(hashes), err
			}
			return getproviders.Trust{Authenticator: authenticator}, err
		}
	}
	if known, ok := by.(Expected); ok {
		pkg.Trust.ExpectedSHA256 = known
	}
	s.Packages[Provider(address)][Version(v)] = pkg
}

// From sets the source URL of a package.
func (s *Source) From(address, v, origin string) {
	pkg := s.Packages[Provider(address)][Version(v)]
	pkg.SourceURL = origin
	s.Packages[Provider(address)][Version(v)] = pkg
}

// AddZip publishes a local archive, by default one with only an executable.
func (s *Source) AddZip(tb testing.TB, address, v string, archive ...[]byte) {
	tb.Helper()
	p := Provider(address)
	content := append(archive, nil)[0]
	if content == nil {
		content = ZipOf(tb, map[string]string{"terraform-provider-" + p.Type: "provider " + v + "\n"})
	}
	path := filepath.Join(s.Dir, p.PackedName(Version(v), Linux))
	must.Succeed(tb, os.WriteFile(path, content, 0o600))
	s.Add(address, v, getproviders.LocalArchive(path))
}

func (s *Source) Versions(_ context.Context, p getproviders.Provider) (getproviders.Available, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.VersionsAsked++
	if err := s.Broken[p]; err != nil {
		return getproviders.Available{}, err
	}
	if s.Packages[p] == nil {
		return getproviders.Available{}, getproviders.ErrProviderNotFound
	}
	return getproviders.Available{Versions: slices.Collect(maps.Keys(s.Packages[p])), Warnings: s.Warnings[p]}, nil
}

func (s *Source) Package(_ context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (getproviders.Package, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.MetadataAsked++
	pkg, ok := s.Packages[p][v]
	switch {
	case !ok:
		return getproviders.Package{}, getproviders.ErrVersionNotFound
	case plat != Linux:
		return getproviders.Package{}, getproviders.ErrPlatformMissing
	}
	return pkg, nil
}

func (s *Source) sourceURL(ctx context.Context, p getproviders.Provider, v getproviders.Version, plat getproviders.Platform) (string, error) {
	s.mu.Lock()
	s.Located++
	s.mu.Unlock()
	pkg, err := s.Package(ctx, p, v, plat)
	return pkg.SourceURL, err
}

func (s *Source) Describe(getproviders.Provider) getproviders.Description {
	return getproviders.Description{Name: "memory", SourceURL: s.sourceURL}
}

// Expected is a checksum that is known before Load.
type Expected [sha256.Size]byte

func (e Expected) Load(context.Context) (getproviders.Authenticator, error) {
	return getproviders.AnyHash{getproviders.ZH(e)}, nil
}

// ListedHashes are the hashes that a source lists of a package.
type ListedHashes getproviders.AnyHash

func (l ListedHashes) Load(context.Context) (getproviders.Authenticator, error) {
	return getproviders.AnyHash(l), nil
}

// ReadArchive reads the archive of a package, and compares it with its expected checksum.
func ReadArchive(ctx context.Context, pkg getproviders.Package) error {
	opened, err := pkg.Location.(getproviders.Archive).Open(ctx, 0)
	if err != nil {
		return err
	}
	defer opened.Body.Close()
	content, err := io.ReadAll(opened.Body)
	if err == nil && sha256.Sum256(content) != pkg.Trust.ExpectedSHA256 {
		err = errors.New("it has other bytes")
	}
	return err
}
