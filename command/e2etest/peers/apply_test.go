// Package peers runs the real terraform, and programs that drive it, in directories
// that tfdeps has prepared.
package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// TestInit_TerraformPlansAndApplies is the purpose of everything else: a real provider is built
// and served signed, tfdeps init installs it, and Terraform plans and applies with it. terraform
// init isn't run.
func TestInit_TerraformPlansAndApplies(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	dir, env := harness.WorkDir(t, harness.ProviderConfig), harness.PluginEnv(t, realProvider(t)...)
	for _, line := range [][]string{
		{harness.Tfdeps(t), "init", "-input=false"},
		{peer, "plan", "-input=false", "-out=planned"},
		{peer, "apply", "-input=false", "-auto-approve"},
		{peer, "plan", "-input=false", "-detailed-exitcode"}, // 0: there is nothing left to do
	} {
		harness.Run(t, dir, env, line...)
	}
	must.Contain(t, harness.ReadText(t, filepath.Join(dir, "terraform.tfstate")), `"id": "2cf24dba5fb0"`)
}

// realProvider returns the variables by which programs find a registry with the provider of harness.ProviderConfig.
func realProvider(t *testing.T) []string {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	registry.Add(providertest.PackageSpec{Namespace: "tfdeps", Type: "tiny", Version: "1.0.0", Protocols: []string{"6.0"}, Archive: harness.PackedProvider(t)})
	return harness.Redirect(t, registry, "tf.example.com")
}

// TestLink_TerraformExecDrivesIt: the library with which most tools drive terraform gets the same
// answers from tfdeps, by a link with that name, as from Terraform.
func TestLink_TerraformExecDrivesIt(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	driver := harness.BuildNested(t, "testdata/terraformexec")
	link := harness.LinkTo(t, harness.Tfdeps(t), "terraform")
	env := harness.PluginEnv(t, append(realProvider(t), "CHECKPOINT_DISABLE=1")...)
	env = append(env, "PATH="+filepath.Dir(link)+string(os.PathListSeparator)+os.Getenv("PATH"))
	said := map[string]string{}
	for _, program := range []string{peer, link} {
		dir := harness.WorkDir(t, strings.Replace(harness.ProviderConfig, "terraform {", "terraform {\n  backend \"local\" { path = \"kept\" }", 1)+`
output "greeting" {
  value = tiny_note.greeting.text
}
`)
		said[program] = harness.Run(t, dir, env, driver, program, dir)
	}
	must.Equal(t, said[link], said[peer])
	must.Contain(t, said[link], "output: \"hello\"\n")
}

// TestRecursive_TerraformValidatesEachTenth prepares twenty root modules with a real provider in one run. Terraform works in each tenth without an init of its own.
func TestRecursive_TerraformValidatesEachTenth(t *testing.T) {
	t.Parallel()
	peer := harness.LookTerraform(t)
	dir, env := t.TempDir(), harness.PluginEnv(t, realProvider(t)...)
	must.Write(t, filepath.Join(dir, "module", "main.tf"), "output \"x\" {\n  value = 1\n}\n")
	root := func(i int) string { return filepath.Join(dir, "live", fmt.Sprint(i)) }
	for i := range 20 {
		must.Write(t, filepath.Join(root(i), "main.tf"), harness.ProviderConfig+"\nmodule \"m\" {\n  source = \"../../module\"\n}\n\nterraform {\n  backend \"local\" {}\n}\n")
	}
	harness.Run(t, dir, env, harness.Tfdeps(t), "init", "-recursive")
	for i := 0; i < 20; i += 10 {
		must.Contain(t, harness.Run(t, root(i), env, peer, "validate", "-no-color"), "The configuration is valid", root(i))
		harness.Run(t, root(i), env, peer, "init", "-no-color", "-lockfile=readonly")
	}
}
