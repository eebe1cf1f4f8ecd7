package command

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestInit_LooksAfterTheCache: init removes packages that no directory has used for 90 days, or those above
// -cache-max-size, at most once a day; and none from a cache that the user named.
func TestInit_LooksAfterTheCache(t *testing.T) {
	registry := honestRegistry(t)
	root := t.TempDir()
	writeWorld(t, root, registry, false)
	now := time.Now()
	cache := filepath.Join(root, "cache/tfdeps/providers/v1", hostOf(registry), "acme/tiny")
	empty := filepath.Join(root, "work/empty")
	must.Write(t, filepath.Join(empty, "main.tf"), "terraform {\n  required_providers {}\n}\n")
	var env []string
	at := func(days int, there bool, line string) {
		t.Helper()
		if code, stdout, stderr := runInProcessAt(t, root, hostOf(registry), line, func() time.Time { return now.AddDate(0, 0, days) }, env...); code != 0 {
			t.Fatalf("%q: exit code %d\n%s%s", line, code, stdout, stderr)
		}
		if _, err := os.Stat(cache); (err == nil) != there {
			t.Errorf("on day %d, after %q: the package is there: %t, want %t", days, line, err == nil, there)
		}
	}
	at(0, true, "init")
	at(89, true, "-chdir=empty init")
	at(89, true, "-chdir=empty init -cache-max-size=0") // not again on this day
	at(91, true, "-chdir=empty init -check")
	at(91, false, "-chdir=empty init")
	must.Succeed(t, os.RemoveAll(filepath.Join(root, "work/.terraform")))
	at(92, true, "init -cache-max-size=1GB")
	at(94, false, "-chdir=empty init -cache-max-size=0")
	must.Succeed(t, os.RemoveAll(filepath.Join(root, "work/.terraform")))
	env = []string{"TFDEPS_CACHE_DIR=" + filepath.Join(root, "cache/tfdeps"), "TFDEPS_CACHE_MAX_SIZE=0"}
	at(96, true, "init")
	at(98, true, "-chdir=empty init") // it is named
	env = env[1:]
	at(100, false, "-chdir=empty init")
	env = nil
	must.Succeed(t, os.RemoveAll(filepath.Join(root, "work/.terraform")))
	config := filepath.Join(root, "cli.tfrc")
	before := must.Get(os.ReadFile(config))(t)
	must.Write(t, config, append(before, "\nplugin_cache_dir = \""+filepath.ToSlash(filepath.Join(root, "cache/tfdeps/providers/v1"))+"\"\n"...))
	at(101, true, "init")
	at(400, true, "-chdir=empty init -cache-max-size=0")
}
