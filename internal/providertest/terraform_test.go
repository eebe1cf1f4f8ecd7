package providertest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// registryInit is terraformInit with a registry as example.com.
func registryInit(t *testing.T, r *providertest.Registry, source string) (string, error) {
	t.Helper()
	env := must.Get(r.Env(t.TempDir(), "example.com"))(t)
	return terraformInit(t, env, source)
}

// terraformInit runs the real terraform in a new directory whose
// configuration needs one provider, and returns what it printed.
func terraformInit(t *testing.T, env []string, source string) (string, error) {
	t.Helper()
	program := peertest.LookTerraform(t)
	dir := t.TempDir()
	config := "terraform {\n required_providers {\n  widget = {\n   source = \"" + source + "\"\n  }\n }\n}\n"
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600))
	cmd := exec.Command(program, "init", "-no-color")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestRegistry_TerraformInstallsFromIt(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	r.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: "1.2.3"})

	for _, source := range []string{"example.com/acme/widget", r.Host() + "/acme/widget"} {
		out := must.Get(registryInit(t, r, source))(t, source)
		must.Contain(t, out, "(self-signed, key ID "+r.Signer().KeyID()+")", source)
	}
	for _, kind := range []string{"versions", "package", "sums", "signature"} {
		must.Equal(t, r.Requests(kind), 2, kind)
	}
}

func TestRegistry_TerraformRefusesAWrongSigner(t *testing.T) {
	r := newRegistry(t, providertest.Options{})
	r.Add(providertest.PackageSpec{
		Namespace: "acme", Type: "widget", Version: "1.2.3",
		Signer: newSigner(t, providertest.SignerOptions{}),
		Keys:   []providertest.Key{r.Signer().Key()},
	})
	out, err := registryInit(t, r, "example.com/acme/widget")
	if err == nil {
		t.Fatalf("terraform init passed:\n%s", out)
	}
	must.Contain(t, out, "unknown issuer")
}
