package weight

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestInit_KeepsOutlinesOfLargeConfigurations has a module of 30 kB: a further init says the same with what an earlier one has kept, which is
// no text of a configuration. TestOutlines_ChangeNothing damages it.
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
	must.Equal(t, init(), again)
}
