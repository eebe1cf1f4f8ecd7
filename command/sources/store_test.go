package sources

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/cachetest"
	"github.com/tfdeps/tfdeps/internal/config/fetch"
	"github.com/tfdeps/tfdeps/internal/must"
)

func TestModules_NoStoreThatOthersCanWriteTo(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	m := &cli.Meta{CacheDir: filepath.Join(t.TempDir(), "cache"), Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	store := func() string {
		s := New(m, getproviders.Terraform(""), false)
		s.modules = new(moduleSources)
		resolver := s.Modules()
		fetcher := resolver.Fetcher.(*fetch.Fetcher)
		if _, err := os.Stat(m.CacheDir); err == nil && resolver.Registries.Store != fetcher.Store {
			t.Errorf("the stores are %q and %q", resolver.Registries.Store, fetcher.Store)
		}
		return fetcher.Store
	}
	if got := store(); got != ModuleStore(m) || log.Len() > 0 {
		t.Errorf("before it is there: %q, %s", got, &log)
	}
	must.Succeed(t, os.MkdirAll(ModuleStore(m), 0o700))
	if got := store(); got != ModuleStore(m) || log.Len() > 0 {
		t.Errorf("%q, %s", got, &log)
	}
	opened := m.CacheDir
	if runtime.GOOS == "windows" { // where the check of the directories above doesn't apply
		opened = ModuleStore(m)
	}
	must.Succeed(t, cachetest.OpenToAll(opened))
	if got := store(); got != "" || strings.Count(log.String(), "\n") != 1 || !strings.Contains(strings.ReplaceAll(log.String(), `\\`, `\`), m.CacheDir) {
		t.Errorf("%q, %s", got, &log)
	}
}
