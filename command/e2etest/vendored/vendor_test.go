// Package vendored puts providers and modules into repositories, and has them
// used from clones.
package vendored

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

func TestMain(m *testing.M) { harness.Main(m) }

// vendoring is a repository whose configuration needs a real provider and
// modules from other repositories.
type vendoring struct {
	program string
	env     []string // in which registry and repositories can be reached
	dir     string   // of the configuration, below the repository's top
	top     string

	registry *providertest.Registry
}

// vendorBuilds are the programs of these tests, which take long to build.
type vendorBuilds struct {
	program string
	archive []byte // of the provider
}

// standIn is the archive of a provider that nothing starts: half a MB that doesn't compress.
func standIn(t *testing.T) []byte {
	t.Helper()
	content := make([]byte, 1<<19)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	return harness.ZipOf(t, []harness.ZipEntry{{Name: "terraform-provider-tiny_v1.0.0", Mode: 0o755, Content: string(content)}})
}

// TestVendor vendors on a realistic machine: with git,
// a registry, and a real provider.
func TestVendor(t *testing.T) {
	t.Parallel()
	harness.RequireProgram(t, "git")
	b := vendorBuilds{harness.Tfdeps(t), standIn(t)}
	for name, test := range map[string]func(*testing.T){
		"a clone needs no network":   b.cloneNeedsNoNetwork,
		"twice gives the same bytes": b.twiceGivesTheSame,
		"what isn't ours stays":      b.keepsWhatIsNotOurs,
		"it may end at any time":     b.isEndedAtAnyTime,
		"two runs at once":           b.runsAtOnce,
		"git LFS keeps packages":     b.keepsArchivesInLFS,
		"large files":                b.warnsOfLargeFiles,
		"OpenTofu takes it, too":     b.worksWithOpenTofu,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "twice gives the same bytes" {
				harness.SkipIfShort(t)
			}
			test(t)
		})
	}
}

// newVendoring makes a configuration in the directory "env" of a repository that ignores
// .terraform and archives, as most do.
func (b vendorBuilds) newVendoring(t *testing.T) *vendoring {
	t.Helper()
	registry := harness.Start(t, providertest.NewRegistry, providertest.Options{})
	for _, platform := range []getproviders.Platform{getproviders.CurrentPlatform(), {OS: "plan9", Arch: "mips"}} {
		registry.Add(providertest.PackageSpec{
			Namespace: "tfdeps", Type: "tiny", Version: "1.0.0", Protocols: []string{"6.0"}, Archive: b.archive, Platform: platform,
		})
	}
	redirect := harness.Redirect(t, registry, "tf.example.com")
	v := &vendoring{program: b.program, env: harness.Env(t, append(redirect, gitIdentity...)...), top: t.TempDir(), registry: registry}
	v.dir = filepath.Join(v.top, "env")
	inner := registry.BaseURL() + registry.AddArchive("inner.tgz", providertest.TarGz(map[string]string{
		"main.tf": "output \"inner\" {\n  value = file(\"${path.module}/kept.zip\")\n}\n", "kept.zip": "x\r\n", ".gitignore": "*.zip\n.terraform/\n", "bin/tool": "#!",
		".gitattributes": "* text=auto\n",
	}))
	outer := v.repository(t, map[string]string{
		"net/main.tf":       fmt.Sprintf("module \"inner\" {\n  source = \"%s\"\n}\nmodule \"beside\" {\n  source = \"../beside\"\n}\n", inner),
		"beside/outputs.tf": "output \"crlf\" {\r\n  value = 1\r\n}\r\n",
	})
	for name, content := range map[string]string{
		".gitignore": "**/.terraform/*\n*.zip\n", ".gitattributes": "* text=auto\n", "env/.gitignore": ".terraform/\n*.tfvars\n",
		"env/main.tf":  harness.ProviderConfig + fmt.Sprintf("\nmodule \"net\" {\n  source = \"git::file://%s//net\"\n}\nmodule \"own\" {\n  source = \"../own\"\n}\n", filepath.ToSlash(outer)),
		"own/local.tf": "output \"own\" {\n  value = 1\n}\n",
	} {
		must.Write(t, filepath.Join(v.top, filepath.FromSlash(name)), content)
	}
	v.git(t, v.top, "init", "-q")
	return v
}

// gitIdentity is what git needs to know to commit anything.
var gitIdentity = []string{
	"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	"GIT_CONFIG_NOSYSTEM=1", "CHECKPOINT_DISABLE=1",
}

// repository makes one with these files, whatever a .gitignore says.
func (v *vendoring) repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	v.git(t, dir, "init", "-q")
	v.git(t, dir, "-c", "core.autocrlf=false", "add", "-f", ".")
	v.git(t, dir, "commit", "-q", "-m", "all")
	return dir
}

func (v *vendoring) git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return v.run(t, dir, v.env, "git", args...)
}

func (v *vendoring) run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	end := harness.Exec(t, dir, env, append([]string{program}, args...)...)
	if end.Code != 0 {
		t.Fatalf("%s %s: %s", program, strings.Join(args, " "), end)
	}
	return end.Said()
}

func (v *vendoring) vendor(t *testing.T, args ...string) string {
	t.Helper()
	return v.run(t, v.dir, v.env, v.program, append([]string{"vendor"}, args...)...)
}

func sameFiles(t *testing.T, what string, was, is map[string]harness.File) {
	t.Helper()
	for name, content := range was {
		must.Equal(t, is[name], content, what, name)
	}
	for name := range is {
		if _, ok := was[name]; !ok {
			t.Errorf("%s: there is %s, too", what, name)
		}
	}
}

// cloneNeedsNoNetwork vendors, commits with plain git commands,
// clones, and initializes the clone with the real terraform and tfdeps without
// network. Terraform also plans.
func (b vendorBuilds) cloneNeedsNoNetwork(t *testing.T) {
	peer := harness.LookTerraform(t)
	if runtime.GOOS != "linux" || exec.Command("unshare", "-n", "true").Run() != nil {
		t.Skip("this user can't make a network namespace")
	}
	b.archive = harness.PackedProvider(t) // which is started
	for _, how := range [][]string{{}, {"-unpacked"}} {
		t.Run(strings.Join(append([]string{"packed"}, how...), " "), func(t *testing.T) {
			t.Parallel()
			v := b.newVendoring(t)
			v.vendor(t, how...)
			v.git(t, v.top, "add", ".")
			v.git(t, v.top, "commit", "-q", "-m", "vendored")
			must.Equal(t, v.git(t, v.top, "status", "--porcelain", "--ignored"), "")
			clean := harness.PluginEnv(t, "CHECKPOINT_DISABLE=1")
			for _, line := range [][]string{
				{peer, "init", "-input=false"}, {peer, "get"}, {peer, "plan", "-input=false"},
				{v.program, "init", "-input=false"}, {peer, "plan", "-input=false"}, {v.program, "vendor", "-check", "-prune"},
			} {
				if line[1] == "init" {
					v.clone(t)
				}
				v.run(t, filepath.Join(v.top, "clone/env"), clean, "unshare", append([]string{"-n"}, line...)...)
			}
			must.Equal(t, v.git(t, filepath.Join(v.top, "clone"), "status", "--porcelain"), "")
		})
	}
}

// clone makes a fresh clone, on a machine that would convert line ends.
func (v *vendoring) clone(t *testing.T) {
	t.Helper()
	to := filepath.Join(v.top, "clone")
	must.Succeed(t, os.RemoveAll(to))
	v.git(t, v.top, "-c", "core.autocrlf=true", "clone", "-q", ".", to)
}

func (b vendorBuilds) twiceGivesTheSame(t *testing.T) {
	v := b.newVendoring(t)
	v.vendor(t)
	first := harness.Files(t, v.top)
	v.vendor(t)
	sameFiles(t, "again", first, harness.Files(t, v.top))
	var tars [2][]byte
	for i, name := range []string{"a.tar", "b.tar"} {
		v.vendor(t, "-o", filepath.Join(v.top, "..", name))
		tars[i], _ = os.ReadFile(filepath.Join(v.top, "..", name))
	}
	sameFiles(t, "after a bundle", first, harness.Files(t, v.top))
	for _, name := range []string{".terraform", "terraform.d", ".terraform.lock.hcl", ".tfdeps.modules.lock.hcl"} {
		must.Succeed(t, os.RemoveAll(filepath.Join(v.dir, name)))
	}
	v.vendor(t, "-o", filepath.Join(v.top, "../c.tar"))
	fresh, _ := os.ReadFile(filepath.Join(v.top, "../c.tar"))
	if len(fresh) < 1000 || !bytes.Equal(tars[0], tars[1]) || !bytes.Equal(tars[0], fresh) {
		t.Errorf("archives of %d, %d and %d bytes, which differ", len(tars[0]), len(tars[1]), len(fresh))
	}
	v.vendor(t, "-unpack", filepath.Join(v.top, "../c.tar"))
	sameFiles(t, "unpacked", first, harness.Files(t, v.top))
	must.Contain(t, v.vendor(t, "-check", "-prune"), "Nothing to do")
}

func (b vendorBuilds) keepsWhatIsNotOurs(t *testing.T) {
	v := b.newVendoring(t)
	kept := []string{"env/terraform.d/plugins/README", "env/terraform.d/theme/x", "env/.terraform/modules/NOTES", "env/.gitignore"}
	for _, name := range kept[:3] {
		must.Write(t, filepath.Join(v.top, filepath.FromSlash(name)), "mine")
	}
	v.vendor(t, "-platform=plan9_mips")
	v.vendor(t, "-platform="+getproviders.CurrentPlatform().String(), "-prune")
	names := harness.Files(t, v.top)
	for _, name := range kept {
		if _, ok := names[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
	for name := range names {
		must.NotContain(t, name, "plan9")
	}
	if ours := strings.Count(names["env/.gitignore"].Content, "tfdeps vendor: begin"); ours != 1 || !strings.HasPrefix(names["env/.gitignore"].Content, ".terraform/\n*.tfvars\n\n#") {
		t.Error(names["env/.gitignore"])
	}
}
