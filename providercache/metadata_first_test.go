package providercache_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/disk"
	"github.com/tfdeps/tfdeps/internal/installtest"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/providercache"
)

// Ten providers, one of which has no version that fits: two round trips, and no archive.
func TestInstall_ReportsAWrongConstraintBeforeTheFirstArchive(t *testing.T) {
	t.Parallel()
	in, web, source, all := webInstaller(t, 10, 1)
	in.Fetcher.Source = installtest.Meeting(source, 10, 9)
	all.Add(provider("acme/p7"), getproviders.Requirement{Constraints: constraints("> 9.0")})
	err := attempt(t, in, all, nil)
	failures := providerErrors(t, err)
	must.Len(t, failures, 1)
	must.Equal(t, failures[0].Provider, provider("acme/p7"))
	must.Fail(t, err, getproviders.ErrNoMatchingVersion)
	must.Equal(t, source.VersionsAsked, 10)
	must.Equal(t, source.MetadataAsked, 9)
	must.Equal(t, web.requests, 0)
	nothingLeft(t, in)
}

// Files are where the directories of the target and the cache should be.
func TestInstall_ReportsOnceThatNothingCanBeWritten(t *testing.T) {
	t.Parallel()
	for _, cache := range []bool{false, true} {
		in, web, _, all := webInstaller(t, 10, 1)
		file := filepath.Dir(in.Target.Dir)
		write(t, file, "a file")
		if cache {
			in.Cache = storeIn(file, "cache")
		}
		_, report, err := in.Install(t.Context(), all.Merge(require("acme/none", "")), nil, providercache.Normal)
		parts := getproviders.SplitErrors(err)
		if len(parts) != 2 || web.requests != 0 {
			t.Fatalf("%d requests for archives, and %d errors, want 0, and one for all and one for what isn't there:\n%v", web.requests, len(parts), err)
		}
		blocked := getproviders.FaultOf(err, getproviders.ErrUnwritable)
		must.Contain(t, err, "into "+in.Target.Dir+": ")
		if blocked == nil || len(blocked.Providers) != 10 || getproviders.CodeOf(blocked) != "unwritable" {
			t.Errorf("got %+v", err)
		}
		must.Len(t, report.Outcomes, 11)
		for _, o := range report.Outcomes {
			if _, ok := getproviders.Failure(o.Err); !ok {
				t.Errorf("%s: %v is no *Fault", o.Provider, o.Err)
			}
		}
	}
}

// huge is a transport that announces archives larger than any disk, and whose bodies can't be
// read.
type huge struct{ counting }

func (h *huge) RoundTrip(req *http.Request) (*http.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests++
	return &http.Response{StatusCode: http.StatusOK, Request: req, Header: http.Header{}, ContentLength: 1 << 60, Body: io.NopCloser(unreadable{})}, nil
}

type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, errors.New("the body was read") }

func TestInstall_ComparesAnnouncedSizesWithTheRoom(t *testing.T) {
	t.Parallel()
	for _, cache := range []*providercache.Store{nil, storeIn(t.TempDir(), "cache")} {
		in, _, _, all := webInstaller(t, 3, 1)
		in.Cache, in.Fetcher.Client, in.Fetcher.Limits = cache, &http.Client{Transport: &huge{}}, providercache.Limits{PackageBytes: math.MaxInt64}
		_, report, err := in.Install(t.Context(), all, nil, providercache.Normal)
		parts := getproviders.SplitErrors(err)
		full, ok := errors.AsType[*disk.RoomError](err)
		if len(parts) != 1 || !ok || len(parts[0].(*getproviders.Fault).Providers) != 3 || full.Need < 1<<60 || !errors.Is(err, getproviders.ErrNoSpace) {
			t.Fatalf("got %d errors, want one about all:\n%v", len(parts), err)
		}
		for _, o := range report.Outcomes {
			if failure, ok := getproviders.Failure(o.Err); !ok || getproviders.CodeOf(failure) != "no_space" || errors.Is(o.Err, context.Canceled) {
				t.Errorf("%s: %v", o.Provider, o.Err)
			}
		}
		nothingLeft(t, in)
	}
}

func TestInstall_ComparesKnownSizesWithTheRoom(t *testing.T) {
	t.Parallel()
	in, web, source, all := webInstaller(t, 1, 1)
	source.AddZip(t, "acme/sparse", "1.0.0")
	const size = 1 << 43
	if err := os.Truncate(filepath.Join(source.Dir, provider("acme/sparse").PackedName(version("1.0.0"), linux)), size); err != nil {
		t.Skipf("no file can be that large here: %v", err)
	}
	if free, known := disk.Room(filepath.Dir(source.Dir)); !known || free > size {
		t.Skipf("of %d bytes", free)
	}
	in.Fetcher.Limits = providercache.Limits{PackageBytes: math.MaxInt64}
	err := attempt(t, in, all.Merge(require("acme/sparse", "")), nil)
	if full, ok := errors.AsType[*disk.RoomError](err); !ok || len(getproviders.FaultOf(err, getproviders.ErrNoSpace).Providers) != 2 || full.Need != size {
		t.Errorf("got %v", err)
	}
	must.Equal(t, web.requests, 0)
	nothingLeft(t, in)
}
