package weight

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestArchives_AreReadOnceAndAtOnce watches what reads of packages on disk: each byte is read once, but for an archive's
// directory, and on two cores two packages are read at the same time. Nothing is known of them from earlier runs.
func TestArchives_AreReadOnceAndAtOnce(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	program := harness.Tfdeps(t)
	const size = 4 << 20
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	_, env := newRegistry(t, 4, func(name string, _ int) []byte {
		return harness.ZipOf(t, []harness.ZipEntry{{Name: name, Mode: 0o755, Content: string(content)}})
	})
	dir := harness.WorkDir(t, requiring(4))
	mirror, home := filepath.Join(t.TempDir(), "mirror"), t.TempDir()
	env = append(env, "HOME="+home, "GOMAXPROCS=2", "TFDEPS_CACHE_DIR="+filepath.Join(home, "cache"))
	forgetful := func() []string { return append(slices.Clone(env), "XDG_STATE_HOME="+t.TempDir()) }
	for _, line := range []string{"init", "vendor", "providers mirror " + mirror} {
		harness.Run(t, dir, env, append([]string{program}, strings.Fields(line)...)...)
	}
	platform := getproviders.CurrentPlatform().String()
	archives := must.Get(filepath.Glob(filepath.Join(mirror, "tf.example.com/acme/*/*_"+platform+".zip")))(t)
	must.Len(t, archives, 4)
	for name, line := range map[string][]string{
		"hash":           append([]string{"hash"}, archives...),
		"providers lock": {"providers", "lock", "-fs-mirror=" + mirror, "-platform=" + platform, "-hashes=read"},
		"vendor -check":  {"vendor", "-check"},
		"a mirror":       {"providers", "mirror", "-verify", mirror},
		"cache verify":   {"cache", "verify"},
	} {
		t.Run(name, func(t *testing.T) {
			traces := t.TempDir()
			harness.Run(t, dir, forgetful(), append([]string{"strace", "-ff", "-y", "-ttt", "-o", filepath.Join(traces, "of"), "-e", "trace=read,pread64", program}, line...)...)
			all := readings(t, traces)
			overlap := 0
			for path, r := range all {
				if r.bytes < size || r.bytes > size+size/8 {
					t.Errorf("of %s, which has %d bytes, %d are read", path, size, r.bytes)
				}
				for _, other := range all {
					if r.from > other.from && r.from < other.to {
						overlap++
					}
				}
			}
			if len(all) != 4 || overlap == 0 {
				t.Errorf("%d packages are read, and %d while others are: %v", len(all), overlap, all)
			}
		})
	}
}

// reading is how much of a file was read, and when.
type reading struct {
	bytes    int
	from, to string // the first time and the last one
}

// readings are those of packages in what strace wrote, with a file for each thread.
func readings(t *testing.T, traces string) map[string]reading {
	call := regexp.MustCompile(`(?m)^([0-9.]+) (?:read|pread64)\(\d+<([^>]*/terraform-provider-p\d(?:_[^>]*zip)?)>.* = (\d+)$`)
	all := map[string]reading{}
	for _, path := range must.Get(filepath.Glob(filepath.Join(traces, "of.*")))(t) {
		for _, found := range call.FindAllStringSubmatch(harness.ReadText(t, path), -1) {
			n := must.Get(strconv.Atoi(found[3]))(t)
			if r, known := all[found[2]]; known {
				all[found[2]] = reading{r.bytes + n, min(r.from, found[1]), max(r.to, found[1])}
			} else {
				all[found[2]] = reading{n, found[1], found[1]}
			}
		}
	}
	return all
}
