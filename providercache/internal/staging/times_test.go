package staging

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestStage_PutTimesBackTouchesNothingBehindLinks(t *testing.T) {
	t.Parallel()
	stage := must.Get(New(t.TempDir()))(t)
	defer stage.Remove()
	outside := filepath.Join(t.TempDir(), "outside")
	cachetest.WriteTo(t, outside, "x")
	cachetest.WriteTo(t, filepath.Join(stage.PackagePath(), "docs", "page"), "x")
	cachetest.LinkOrSkip(t, outside, filepath.Join(stage.PackagePath(), "link"))
	now := time.Now()
	stage.PutTimesBack(now)
	for path, want := range map[string]bool{
		stage.PackagePath(): true, filepath.Join(stage.PackagePath(), "docs"): true,
		filepath.Join(stage.PackagePath(), "docs", "page"): true, outside: false,
	} {
		info := must.Get(os.Stat(path))(t)
		must.Equal(t, now.Sub(info.ModTime()) > 2*time.Second, want, path)
	}
}
