package weight

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// maxCallsOfRoot is how many calls about files an unchanged root module takes that requires three providers and calls a local module; 224.
const maxCallsOfRoot = 235

// TestRecursive_LooksAtFewFiles counts the calls about files that each further root module adds to a run in which nothing is to be done.
func TestRecursive_LooksAtFewFiles(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "strace")
	program := harness.Tfdeps(t)
	_, env := newRegistry(t, 3, nil)
	config := requiring(3) + "terraform {\n  backend \"local\" {}\n}\nmodule \"m\" {\n  source = \"../../m\"\n}\n"
	calls := func(roots int) int {
		dir := t.TempDir()
		must.Write(t, filepath.Join(dir, "m", "main.tf"), "")
		for i := range roots {
			must.Write(t, filepath.Join(dir, "live", fmt.Sprint(i), "main.tf"), config)
		}
		harness.Run(t, dir, env, program, "init", "-recursive")
		trace := filepath.Join(t.TempDir(), "trace")
		harness.Run(t, dir, env, "strace", "-f", "-o", trace, "-e", "trace=%file,getdents64,fstat,read,close", program, "init", "-recursive")
		return len(regexp.MustCompile(`(?m)^\d+ +[a-z0-9]+\(`).FindAllString(harness.ReadText(t, trace), -1))
	}
	few, many := calls(2), calls(12)
	each := (many - few) / 10
	t.Logf("%d calls for each root module", each)
	if each > maxCallsOfRoot || each < 20 {
		t.Errorf("a further root module takes %d calls about files, want at most %d", each, maxCallsOfRoot)
	}
}
