package weight

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// What an init with nothing to do asks the system about files after main has begun: calls with a path, but for those about directories
// above the ones that it works with, which it looks at for a policy and for links, and which are as many as the paths are deep.
const (
	maxCallsOfInit     = 40
	maxCallsOfProvider = 2  // besides one for each of its files and directories
	maxCallsOfLink     = 60 // of a provider that comes from the cache; 45 by hard links
)

// TestInit_LooksAtFewFiles counts them for two and for twelve providers, whose packages are a directory with one file, and again where .terraform was
// deleted.
func TestInit_LooksAtFewFiles(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	program := harness.Tfdeps(t)
	home := t.TempDir()
	_, env := newRegistry(t, 12, nil)
	env = append(env, "HOME="+home, "XDG_STATE_HOME=", "XDG_CACHE_HOME=")
	call := regexp.MustCompile(`^\d+ +[a-z0-9]+\((?:AT_FDCWD, )?"([^"]*)"`)
	calls := func(providers int, deleted bool) (count int) {
		dir := harness.WorkDir(t, requiring(providers))
		harness.Run(t, dir, env, program, "init")
		if deleted {
			must.Succeed(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
		}
		trace := filepath.Join(t.TempDir(), "trace")
		harness.Run(t, dir, env, "strace", "-f", "-o", trace, "-e", "trace=%file", program, "init")
		_, afterMain, ok := strings.Cut(harness.ReadText(t, trace), "/proc/self/exe")
		must.Equal(t, ok, true)
		above := strings.Join([]string{dir, filepath.Join(home, ".cache/tfdeps/providers/v1"), filepath.Join(home, ".local/state/tfdeps")}, "\n") + "\n"
		for line := range strings.Lines(afterMain) {
			found := call.FindStringSubmatch(line)
			if found == nil || strings.Contains("\n"+above, "\n"+strings.TrimSuffix(strings.TrimSuffix(found[1], ".git"), "/")+"/") {
				continue
			}
			count++
		}
		return count
	}
	few, many := calls(2, false), calls(12, false)
	each := (many - few + 5) / 10 // one call more or less, as who comes first wants it, is none for each
	t.Logf("%d calls, and %d for each provider", few-2*each, each)
	if link := (calls(12, true) - calls(2, true)) / 10; link > maxCallsOfLink || link <= each {
		t.Errorf("a provider of the cache takes %d calls, want at most %d", link, maxCallsOfLink)
	}
	if fixed := few - 2*each; fixed > maxCallsOfInit || each-2 > maxCallsOfProvider || fixed < 20 || each < 2 {
		t.Errorf("an init with nothing to do takes %d calls about files and %d for each provider, want at most %d and %d", fixed, each, maxCallsOfInit, maxCallsOfProvider+2)
	}
}
