package providercache_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// kept says how an archive is opened. Each entry of cuts makes one read break off after that many bytes.
type kept struct {
	validator string
	cuts      []int
	whole     bool // it can only be read from its beginning
	size      bool // its size is known
	fails     error
}

// stored is an archive that a test keeps.
type stored struct {
	kept
	mu      sync.Mutex
	content []byte
	opened  []int64 // the offsets at which it was opened
}

func (s *stored) String() string { return "the test's database" }

var errCut = errors.New("the connection to the database was lost")

func (s *stored) Open(_ context.Context, offset int64) (getproviders.OpenedArchive, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, offset)
	if s.fails != nil {
		return getproviders.OpenedArchive{}, s.fails
	}
	if s.whole {
		offset = 0
	}
	opened := getproviders.OpenedArchive{Offset: offset, Size: -1, Validator: s.validator}
	if s.size {
		opened.Size = int64(len(s.content))
	}
	body := io.Reader(bytes.NewReader(s.content[offset:]))
	if len(s.cuts) > 0 {
		body = io.MultiReader(io.LimitReader(body, int64(s.cuts[0])), iotest.ErrReader(errCut))
		s.cuts = s.cuts[1:]
	}
	opened.Body = io.NopCloser(body)
	return opened, nil
}

// large is a package of random bytes, so that it takes many reads.
func large(t *testing.T) []byte {
	return zipOf(t, map[string]string{"terraform-provider-widget": noise(300_000)})
}

func TestArchive_IsFetchedFromAnywhere(t *testing.T) {
	t.Parallel()
	archive := large(t)
	sum := sha256.Sum256(archive)
	for name, c := range map[string]struct {
		kept
		known  bool // its checksum
		opened []int64
		err    error
	}{
		"at once":                           {kept: kept{}, opened: []int64{0}},
		"with its size":                     {kept: kept{size: true}, opened: []int64{0}},
		"resumed":                           {kept: kept{cuts: []int{1000}, validator: "a"}, opened: []int64{0, 1000}},
		"resumed twice":                     {kept: kept{cuts: []int{1000, 500}, validator: "a", size: true}, opened: []int64{0, 1000, 1500}},
		"resumed by its checksum":           {kept: kept{cuts: []int{1000}}, known: true, opened: []int64{0, 1000}},
		"begun again without a validator":   {kept: kept{cuts: []int{1000}}, opened: []int64{0, 1000, 0}},
		"begun again where only all can be": {kept: kept{cuts: []int{1000}, validator: "a", whole: true}, opened: []int64{0, 1000}},
		"too often":                         {kept: kept{cuts: []int{1000, 0, 0, 0}, validator: "a"}, opened: []int64{0, 1000, 1000, 1000}, err: errCut},
		"not there":                         {kept: kept{fails: errRefused}, opened: []int64{0}, err: errRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, lock := range []bool{false, true} {
				at := &stored{kept: c.kept, content: archive}
				source := newSource(t)
				source.Add("acme/widget", "1.0.0", at)
				trust := getproviders.Trust{Authenticator: getproviders.AnyHash{getproviders.ZH(sum)}}
				if c.known {
					trust = getproviders.TrustedBy(getproviders.AnyHash{getproviders.ZH(sum)})
				}
				pkg := source.Packages[acmeWidget][v1]
				pkg.Trust = trust
				source.Packages[acmeWidget][v1] = pkg
				in := newInstaller(t, source)
				var err error
				if lock {
					_, err = in.Fetcher.Hashes(t.Context(), acmeWidget, v1, onLinux)
				} else {
					var got providercache.Installed
					if got, err = in.Ensure(t.Context(), acmeWidget, constraints("")); err == nil && read(t, got.Executable) != noise(300_000) {
						t.Error("it has other bytes")
					}
				}
				if !errors.Is(err, c.err) || c.err != nil && !strings.Contains(err.Error(), at.String()) {
					t.Errorf("hashed only %t: %v", lock, err)
				}
				must.Equal(t, fmt.Sprint(at.opened), fmt.Sprint(c.opened), lock)
			}
		})
	}
}

func TestArchive_IsNoMixtureOfTwo(t *testing.T) {
	t.Parallel()
	for _, bySize := range []bool{false, true} {
		source := newSource(t)
		other := zipOf(t, map[string]string{"terraform-provider-widget": noise(200_000)})
		source.Add("acme/widget", "1.0.0", &exchanged{stored{kept: kept{validator: "a", size: bySize, cuts: []int{1000}}, content: large(t)}, other})
		must.Equal(t, read(t, must.Get(newInstaller(t, source).Ensure(t.Context(), acmeWidget, constraints("")))(t, bySize).Executable) == noise(200_000), true, "it is the archive that is there now", bySize)
	}
}

// exchanged is an archive that changes after it was first opened, which its size or its validator shows.
type exchanged struct {
	stored
	other []byte
}

func (e *exchanged) Open(ctx context.Context, offset int64) (getproviders.OpenedArchive, error) {
	if len(e.opened) > 0 {
		e.content = e.other
		if !e.size {
			e.validator = "b"
		}
	}
	return e.stored.Open(ctx, offset)
}

func TestArchive_HasASizeForPlans(t *testing.T) {
	t.Parallel()
	archive := large(t)
	source := newSource(t)
	source.Add("acme/widget", "1.0.0", &stored{content: archive, kept: kept{size: true}})
	in := newInstaller(t, source)
	found := installtest.First(in.Fetcher.Locate(t.Context(), providercache.LockRequest{Sizes: true, Requirements: require("acme/widget", "")}))
	if found.Err != nil || len(found.Packages) != 1 || found.Packages[0].Bytes != int64(len(archive)) {
		t.Errorf("got %+v", found)
	}
}
