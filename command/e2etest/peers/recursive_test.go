package peers

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestRecursive_TerraformValidatesEachTenth prepares forty root modules with a real provider in one run. Terraform works in each tenth without an init of its own.
func TestRecursive_TerraformValidatesEachTenth(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	dir, env := t.TempDir(), harness.Env(t, realProvider(t)...)
	must.Write(t, filepath.Join(dir, "module", "main.tf"), "output \"x\" {\n  value = 1\n}\n")
	root := func(i int) string { return filepath.Join(dir, "live", fmt.Sprint(i)) }
	for i := range 40 {
		must.Write(t, filepath.Join(root(i), "main.tf"), harness.ProviderConfig+"\nmodule \"m\" {\n  source = \"../../module\"\n}\n\nterraform {\n  backend \"local\" {}\n}\n")
	}
	harness.Run(t, dir, env, harness.Tfdeps(t), "init", "-recursive")
	for i := 0; i < 40; i += 10 {
		must.Contain(t, harness.Run(t, root(i), env, peer, "validate", "-no-color"), "The configuration is valid", root(i))
		harness.Run(t, root(i), env, peer, "init", "-no-color", "-lockfile=readonly")
	}
}
