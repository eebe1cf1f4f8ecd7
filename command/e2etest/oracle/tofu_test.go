package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/providertest"
)

// tofuExemptions are the cases in which tfdeps in the place of OpenTofu and
// OpenTofu may differ; see exemptions.
var tofuExemptions = map[string]harness.Exemption{
	"stray_file":               {Exit: true, Lock: true, Reason: "difference 3: OpenTofu refuses a package that was changed, here it is installed again"},
	"lock_with_unknown_scheme": exemptions["lock_with_unknown_scheme"],
	"zip_setuid":               exemptions["zip_setuid"],
}

// TestInit_SameAsTofu is [TestInit_SameAsTerraform] for tfdeps in the place of tofu, which
// is a link of that name, and the real one: the same cases, and those in
// testdata/oracle_tofu. The expected errors of init aren't checked, because OpenTofu
// continues after some errors that end Terraform, and the other way round.
func TestInit_SameAsTofu(t *testing.T) {
	t.Parallel()
	p := withTofu(t)
	p.agree = true
	own := readCases(t, "testdata/oracle_tofu/*.txtar", func(archive, name string) (string, string) { return archive, name })
	if len(own) < 12 {
		t.Errorf("there are %d cases of its own, want 12 at least", len(own))
	}
	maps.Copy(own, initCases(t))
	compareInit(t, p, own, tofuExemptions)
}

// TestModules_SameAsTofu is [TestModules_SameAsTerraform] for OpenTofu.
func TestModules_SameAsTofu(t *testing.T) {
	t.Parallel()
	p := withTofu(t)
	p.agree = true
	compareModules(t, p)
}

// linkedAs returns a link to tfdeps with another name.
func linkedAs(t *testing.T, name string) string {
	t.Helper()
	return harness.LinkTo(t, harness.Tfdeps(t), name)
}

// tofuVersion asks the real tofu.
func tofuVersion(t *testing.T, program string) string {
	t.Helper()
	out := harness.Run(t, "", harness.Env(t, "CHECKPOINT_DISABLE=1"), program, "version", "-json")
	var told struct {
		Version string `json:"terraform_version"`
	}
	must.Succeed(t, json.Unmarshal([]byte(out), &told))
	return told.Version
}

// testedTofu is the version that the cases expect if tofu isn't installed.
const testedTofu = "1.12.6"

// TestCommands_SameAsTofu is [TestCommands_SameAsTerraform] for tfdeps in the place of tofu,
// with the cases in testdata/oracle_tofu_commands and testdata/oracle_both. Without tofu, only tfdeps is
// compared with the expectations of the cases.
func TestCommands_SameAsTofu(t *testing.T) {
	t.Parallel()
	peer, err := peertest.PeerProgram("tofu")
	if err != nil {
		t.Logf("there is no tofu to compare with: %v", err)
	}
	compareCommands(t, asTofu(t, peer), "oracle_tofu_commands", 400)
}

// TestStreams_SameAsTofu is [TestStreams_SameAsTerraform] for tfdeps in the place of tofu.
func TestStreams_SameAsTofu(t *testing.T) {
	t.Parallel()
	compareStreams(t, withTofu(t), tofuStreamDifferences(), ofTerraformOnly...)
}

// ofTerraformOnly are cases with constraints for versions of Terraform, or with a lock entry of Terraform's registry.
var ofTerraformOnly = []string{"required_version", "required_version_of_a_module", "lock_hash_mismatch"}

// tofuStreamDifferences returns the exemptions for Terraform, and those for OpenTofu's own texts about arguments.
func tofuStreamDifferences() map[string]streamDifference {
	all := maps.Clone(streamDifferences)
	for _, name := range ofTerraformOnly {
		delete(all, name)
	}
	help := streamDifference{Out: true, Reason: "difference 44: help is not printed after an error"}
	for _, name := range []string{"flag_unknown", "flag_unknown_get", "flag_unknown_lock", "flag_value", "timeout_value"} {
		all[name] = help
	}
	words := streamDifference{Out: true, Err: true, Reason: "difference 44: mistakes are summed up in Terraform's words"}
	for _, name := range []string{"argument_too_many", "mirror_no_dir", "mirror_no_directory", "readonly_upgrade", "reconfigure_migrate",
		"import_without_id", "removed_of_index", "lock_twice", "lock_wrong_hash", "lock_wrong_version", "modules_json_broken_get"} {
		all[name] = words
	}
	all["backend_reference"] = ownWords
	all["backend_values_missing"] = streamDifference{Err: true, Reason: "difference 33: a missing argument is reported in the same words for every backend"}
	return all
}

// TestMirror_TofuLocksTheSame installs with OpenTofu from mirrors that tfdeps under its name and
// OpenTofu itself have made: the lock files are the same, including signed checksums.
func TestMirror_TofuLocksTheSame(t *testing.T) {
	t.Parallel()
	tofu := harness.LookTofu(t)
	ca := harness.NewCA(t)
	registry := harness.NewLockRegistry(t, ca)
	env := harness.Env(t, append(harness.Redirect(t, registry, "registry.opentofu.org"), "TFDEPS_TOFU_VERSION="+tofuVersion(t, tofu))...)
	config := []byte(harness.LockConfig("a", "~> 1.0", "e", ""))
	var locks [2]string
	for i, program := range [2]string{linkedAs(t, "tofu"), tofu} {
		dir, mirror := t.TempDir(), t.TempDir()
		must.Write(t, filepath.Join(dir, "main.tf"), config)
		harness.Run(t, dir, env, append(append([]string{program, "providers", "mirror"}, strings.Fields(harness.FivePlatforms)...), mirror)...)
		server := harness.Start(t, providertest.NewServer, providertest.ServerOptions{CA: ca, Handler: http.FileServer(http.Dir(mirror))})
		installation := fmt.Sprintf("provider_installation {\n  network_mirror { url = %q }\n}\n", server.BaseURL()+"/")
		harness.Run(t, dir, harness.Trust(t, ca, installation), tofu, "init", "-input=false")
		locks[i] = harness.LockOf(t, dir)
	}
	if locks[0] != locks[1] || !strings.Contains(locks[0], `"zh:`) {
		t.Errorf("--- from the mirror of tfdeps\n%s\n--- from that of OpenTofu\n%s", locks[0], locks[1])
	}
}

// jsonFiles are a configuration about which init reports something.
var jsonFiles = files{
	"main.tf":   "module \"m\" {\n  source = \"./m\"\n}\nresource \"alpha_thing\" \"x\" {}\nremoved {\n  from = beta_thing.x\n}\n",
	"m/main.tf": "terraform {\n  required_providers {\n    alpha = {\n      version = \"1.1.0\"\n    }\n  }\n}\n",
}

// jsonSaid is the output of init -json for them, as LEVEL TYPE MESSAGE.
var jsonSaid = []string{
	"info version OpenTofu " + testedTofu,
	"info - Initializing the backend...",
	"info - Initializing modules...",
	"info - installing m in m",
	"info - Initializing provider plugins...",
	"info - Finding hashicorp/alpha versions matching \"1.1.0\"...",
	"info - Installing hashicorp/alpha v1.1.0...",
	"info - Installed hashicorp/alpha v1.1.0 (signed, key ID ...)",
	"info - Providers are signed by their developers. If you'd like to know more about provider signing, you can read about it here: https://opentofu.org/docs/cli/plugins/signing/",
	"info - OpenTofu has created a lock file .terraform.lock.hcl to record the provider selections it made above. Include this file in your version control repository so that OpenTofu can guarantee to make the same selections by default when you run \"tofu init\" in the future.",
	"warn diagnostic Warning: Missing lifecycle from the removed block",
	"info - OpenTofu has been successfully initialized!",
	"info - You may now begin working with OpenTofu. Try running \"tofu plan\" to see any changes that are required for your infrastructure. All OpenTofu commands should now work. If you ever set or change modules or backend configuration for OpenTofu, rerun this command to reinitialize your working directory. If you forget, other commands will detect it and remind you to do so if necessary.",
}

// TestInitJSON_SaysWhatTofuSays compares what both programs say for programs with
// jsonSaid, on stdout and in a file. Without tofu, only tfdeps is compared.
func TestInitJSON_SaysWhatTofuSays(t *testing.T) {
	t.Parallel()
	programs := []string{linkedAs(t, "tofu")}
	if peer, err := peertest.PeerProgram("tofu"); err == nil && tofuVersion(t, peer) == testedTofu {
		programs = append(programs, peer)
	}
	registry := newOracleRegistry(t, nil)
	redirect := append(harness.Redirect(t, registry, oracleHosts...), "TFDEPS_TOFU_VERSION="+testedTofu)
	for _, program := range programs {
		for _, option := range []string{"-json", "-json-into=said.json"} {
			dir := t.TempDir()
			for name, content := range jsonFiles {
				lay(t, dir, name, content)
			}
			out := harness.Run(t, dir, harness.Env(t, redirect...), program, "init", "-no-color", option, "-concise", "-consolidate-warnings=false", "-consolidate-errors", "-deprecation=module:none")
			if option != "-json" {
				must.Contain(t, out, "OpenTofu has been successfully initialized!\n")
				out = harness.ReadText(t, filepath.Join(dir, "said.json"))
			}
			must.EqualSlices(t, jsonLines(t, out), jsonSaid, program, option)
		}
	}
}

// jsonLines returns the lines in the form of jsonSaid, without the keys of this run and without duplicates.
func jsonLines(t *testing.T, out string) (said []string) {
	t.Helper()
	keys := regexp.MustCompile(`key ID \w+`)
	for line := range strings.Lines(out) {
		object := map[string]any{}
		must.Succeed(t, json.Unmarshal([]byte(line), &object))
		kind, ok := object["type"].(string)
		if !ok {
			kind = "-"
		}
		if object["@module"] != "tofu.ui" || kind == "version" && object["ui"] != "1.2" {
			t.Errorf("line %s", line)
		}
		if kind == "package" || kind == "module" || kind == "summary" { // difference 60
			continue
		}
		message := object["@level"].(string) + " " + kind + " " + keys.ReplaceAllString(object["@message"].(string), "key ID ...")
		if len(said) == 0 || said[len(said)-1] != message { // OpenTofu says some of it twice
			said = append(said, message)
		}
	}
	return said
}
