package oracle

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/e2etest/internal/harness"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
)

// jsonFiles are a configuration about which init reports something.
var jsonFiles = files{
	"main.tf":   "module \"m\" {\n  source = \"./m\"\n}\nresource \"alpha_thing\" \"x\" {}\nremoved {\n  from = beta_thing.x\n}\n",
	"m/main.tf": "terraform {\n  required_providers {\n    alpha = {\n      version = \"1.1.0\"\n    }\n  }\n}\n",
}

// jsonSaid is what init -json reports then, as LEVEL TYPE MESSAGE.
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
// jsonSaid, on stdout and in a file. Where there is no tofu, tfdeps alone is compared.
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

// jsonLines are the lines as jsonSaid has them, without the keys of this run, and each once.
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
