package weight

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestInit_KeepsOutlinesOfLargeConfigurations has a module of 30 kB: a second init says the same with what the first has kept, and after
// that is damaged; what the kept places don't hold for is read, and no text of a configuration is kept.
func TestInit_KeepsOutlinesOfLargeConfigurations(t *testing.T) {
	t.Parallel()
	dir := harness.WorkDir(t, "module \"m\" {\n  source = \"./m\"\n}\n")
	state := filepath.Join(t.TempDir(), "state")
	env := harness.PinnedEnv(t, "XDG_STATE_HOME="+state)
	var module strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&module, "output \"o%d\" {\n  value = %[1]d\n}\n", i)
	}
	must.Write(t, filepath.Join(dir, "m", "main.tf"), module.String())
	init := func() string {
		before, _, _ := strings.Cut(harness.Run(t, dir, env, harness.Tfdeps(t), "init", "-no-color"), " module in ") // so many milliseconds
		return before
	}
	init()
	again := init()
	kept := must.Get(filepath.Glob(filepath.Join(state, "tfdeps", "documents", "*")))(t)
	must.Len(t, kept, 1)
	content := harness.ReadText(t, kept[0])
	must.NotContain(t, content, "o7")
	must.Write(t, kept[0], strings.Replace(content, "1", "2", 1))
	must.Equal(t, init(), again)
	must.Write(t, kept[0], content)
	must.Write(t, filepath.Join(dir, "m", "main.tf"), strings.Replace(module.String(), "value = 999", "valve = 999", 1))
	must.Contain(t, harness.Exec(t, dir, env, harness.Tfdeps(t), "init", "-no-color").Err, "valve")
	must.Succeed(t, os.RemoveAll(state))
	must.Write(t, filepath.Join(dir, "m", "main.tf"), module.String())
	must.Equal(t, init(), again)
}
