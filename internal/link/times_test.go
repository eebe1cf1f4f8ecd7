package link

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestKeepTimes_TakesTimesThatArePast(t *testing.T) {
	now := time.Now()
	past, future := now.Add(-time.Hour).Truncate(time.Second), now.Add(time.Hour).Truncate(time.Second)
	times := map[string]time.Time{"a": past, "late": future, "docs/page": past.Add(time.Second), "docs": past.Add(2 * time.Second), ".": past.Add(3 * time.Second)}
	for _, mode := range []Mode{Hardlink, Copy} {
		from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "to")
		for _, name := range []string{"a", "late", "docs/page"} {
			cachetest.WriteTo(t, filepath.Join(from, name), name)
		}
		for _, name := range []string{"a", "late", "docs/page", "docs", "."} {
			must.Succeed(t, os.Chtimes(filepath.Join(from, name), time.Time{}, times[name]))
		}
		if _, _, err := Tree(t.Context(), from, to, []Mode{mode}); err != nil {
			t.Skipf("%v: %v", mode, err)
		}
		KeepTimes(from, to, now)
		for name, want := range times {
			info, err := os.Stat(filepath.Join(to, name))
			must.Succeed(t, err)
			must.Equal(t, info.ModTime().Equal(want), want.Before(now) || mode == Hardlink, name)
		}
	}
}
