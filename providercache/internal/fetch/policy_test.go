package fetch

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
)

// A package without a date that is refused for its age has to get older, although no receipt is left of it.
func TestFetcher_RefusedPackageAgesFromItsFirstFetch(t *testing.T) {
	f, _, r, _ := keeping(t)
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now, refused := first, errors.New("too young")
	var released []time.Time
	f.ArchiveDir, f.StateDir, f.Now = "", t.TempDir(), func() time.Time { return now }
	f.Policy = func(_ context.Context, c getproviders.Candidate) error {
		released = append(released, c.Released)
		return refused
	}
	fetch := uses(t, f, r)
	for _, use := range fetch {
		now = now.Add(time.Hour)
		if err := use(t.Context()); err != nil && !errors.Is(err, getproviders.ErrRefused) {
			t.Fatal(err)
		}
	}
	if len(released) < 2 {
		t.Fatalf("the policy was asked about %v", released)
	}
	for _, at := range released {
		if !at.Equal(first.Add(time.Hour)) {
			t.Errorf("released at %v, want always %v", released, first.Add(time.Hour))
		}
	}
}
