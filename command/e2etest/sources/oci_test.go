package sources

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/oci/ocitest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// TestMirror_InAnOCIRegistry publishes to Docker's registry, with the login of Docker's own
// configuration, and installs from there: by -mirror, by the oci_mirror block of OpenTofu's CLI
// configuration, and by the real tofu, whose lock file is the same.
func TestMirror_InAnOCIRegistry(t *testing.T) {
	t.Parallel()
	program, ca := harness.Tfdeps(t), harness.NewCA(t)
	at := ocitest.Start(t, ca, true)
	origin := harness.Start(t, providertest.NewRegistry, providertest.Options{CA: ca})
	args := []string{program, "providers", "mirror", "-no-color"}
	for _, platform := range []getproviders.Platform{getproviders.CurrentPlatform(), {OS: "plan9", Arch: "mips"}} {
		for _, version := range []string{"1.0.0", "1.1.0+build"} {
			origin.Add(providertest.PackageSpec{Namespace: "acme", Type: "widget", Version: version, Platform: platform})
		}
		args = append(args, "-platform="+platform.String())
	}
	home, widget := t.TempDir(), expandNames("$WIDGET")
	must.Write(t, filepath.Join(home, ".docker/config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`,
		at.Host, base64.StdEncoding.EncodeToString([]byte(ocitest.Username+":"+ocitest.Password))))
	direct := append(harness.Trust(t, ca, hostBlockFor("tf.example.com", origin.ServiceURL())), "HOME="+home)
	dir := func() string { return harness.WorkDir(t, requiring(widget)) }
	target := "oci://" + at.Host + "/providers/${namespace}/${type}"
	for i, versions := range []string{"1.0.0", "1.1.0+build", "1.1.0+build"} {
		harness.Run(t, dir(), direct, append(args, "-versions="+widget+"@"+versions, target)...)
		must.Equal(t, origin.Requests("archive"), min(2*(i+1), 4), i)
	}
	installed := func(program string, env []string, options ...string) string {
		dir := dir()
		harness.Run(t, dir, append(env, "TFDEPS_CACHE_DIR="+t.TempDir()), append([]string{program, "init", "-no-color"}, options...)...)
		return harness.ReadLock(t, dir)
	}
	lock := installed(program, direct, "-mirror="+target, "-mirror-fallback=exclusive")
	if !strings.Contains(lock, `"1.1.0+build"`) || origin.Requests("archive") != 4 {
		t.Errorf("the lock file by -mirror is\n%s", lock)
	}
	key := filepath.Join(home, "acme.asc")
	must.Write(t, key, origin.Signer().Armored())
	for _, env := range [][]string{{"TFDEPS_TRUSTED_KEYS=" + key}, nil} {
		out := harness.Run(t, dir(), slices.Concat(direct, env, []string{"TFDEPS_CACHE_DIR=" + t.TempDir()}), program, "init", "-no-color", "-mirror="+target, "-mirror-fallback=exclusive")
		must.Equal(t, strings.Contains(out, "(self-signed, key ID "+origin.Signer().KeyID()), env != nil)
	}
	asIfCached := dir() // what docs/cache-and-ci.md has for CI without a cache
	must.Write(t, filepath.Join(asIfCached, ".terraform.lock.hcl"), lock)
	harness.Run(t, asIfCached, direct, program, "providers", "mirror", "-no-color", "-locked=.", target)
	harness.Run(t, asIfCached, append(direct, "TFDEPS_MIRROR="+target, "TFDEPS_CACHE_DIR="+t.TempDir()), program, "init", "-no-color", "-lockfile=readonly")
	must.Equal(t, origin.Requests("archive"), 4)
	mirrored := append(harness.Trust(t, ca, fmt.Sprintf("provider_installation {\n oci_mirror {\n  repository_template = \"%s/providers/${namespace}/${type}\"\n  include = [\"tf.example.com/*/*\"]\n }\n}\n", at.Host)), "HOME="+home)
	lock = installed(program, append(mirrored, "TFDEPS_PRODUCT=tofu"))
	if end := harness.Exec(t, dir(), append(mirrored, "TFDEPS_PRODUCT=tofu", "HOME="+t.TempDir()), program, "init", "-no-color"); end.Code == 0 || !strings.Contains(harness.OneLine(end.Said()), "not authorized: the registry wants a username") {
		t.Errorf("without a login: %s", end)
	}
	for options, wanted := range map[string]string{"": "oci_mirror " + at.Host, "-mirror=" + target: "mirror " + target} {
		env := append(mirrored, "TFDEPS_PRODUCT=tofu", "TFDEPS_TOFU_VERSION=1.12.6")
		if options != "" {
			env = append(direct, "TFDEPS_TERRAFORM_VERSION=1.15.9")
		}
		out := harness.Run(t, dir(), env, append([]string{program, "doctor", "-no-color"}, strings.Fields(options)...)...)
		if !strings.Contains(out, "ok      "+strings.ReplaceAll(wanted, "_", " ")) || !strings.Contains(out, "tf.example.com/acme/widget: 2 versions") {
			t.Errorf("doctor %s says\n%s", options, out)
		}
	}
	digest := at.PushModule(t, "modules/net", "latest", providertest.Zip(files{"main.tf": "", "sub/main.tf": "locals {}\n"}))
	modulesOf := func(program string) (string, []string) {
		dir := harness.WorkDir(t, fmt.Sprintf("module \"a\" {\n source = \"oci://%[1]s/modules/net//sub\"\n}\nmodule \"b\" {\n source = \"oci://%[1]s/modules/net?digest=%[2]s\"\n}\n", at.Host, digest))
		harness.Run(t, dir, append(mirrored, "TFDEPS_PRODUCT=tofu"), program, "get", "-no-color")
		return harness.ReadText(t, filepath.Join(dir, ".terraform/modules/modules.json")), harness.ListTree(t, dir)
	}
	record, tree := modulesOf(program)
	must.Contain(t, strings.Join(tree, "\n"), "modules/a/sub/main.tf", record)
	t.Run("tofu", func(t *testing.T) {
		if gotRecord, gotTree := modulesOf(harness.LookTofu(t)); gotRecord != record || !slices.Equal(gotTree, tree) {
			t.Errorf("tofu get:\n%s\n%s\nand tfdeps:\n%s\n%s", gotRecord, strings.Join(gotTree, "\n"), record, strings.Join(tree, "\n"))
		}
		must.Equal(t, installed(harness.LookTofu(t), mirrored), lock)
	})
}
