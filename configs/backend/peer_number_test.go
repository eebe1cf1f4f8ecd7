package backend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/providertest"
)

// required is what plan says where a record isn't that of the block.
const required = "initialization required"

// TestRecord_HasTheNumberThatTerraformKnows has the real plan compare our number with its
// own, for every type that it has and without any service: a record with other
// values is accepted if the number is that of the block, and only then. That
// holds for a block with all arguments there are, and for one with none.
func TestRecord_HasTheNumberThatTerraformKnows(t *testing.T) {
	program := providertest.LookTerraform(t)
	checkNumbers(t, program, getproviders.Terraform(peerVersion(t, program)), bodies(t, nil))
}

func checkNumbers(t *testing.T, program string, product getproviders.Product, bodies map[string]string) {
	t.Helper()
	fake := newCloud(t)
	for name, body := range bodies {
		for part, text := range map[string]string{"all": body, "none": ""} {
			block := fmt.Sprintf("backend %q {\n%s}", name, text)
			if name == backend.Cloud {
				block = "cloud {\n" + text + "}"
			}
			config, diags := backend.Decode(parseBlock(t, block), backend.Options{Product: product, Overrides: []string{overridesOf(t, body)}})
			if len(diags) > 0 && diags[0].Summary == "Unsupported backend type" {
				t.Logf("%s v%s has no %s", product.Name, product.Version, name)
				continue
			}
			if diags.HasErrors() {
				t.Fatalf("%s: %v", block, diags)
			}
			t.Run(name+"/"+part, func(t *testing.T) {
				t.Parallel()
				ours := alienRecord(t, config, product)
				if said := planWith(t, program, fake, block, ours); strings.Contains(said, required) {
					t.Errorf("our number %d isn't theirs:\n%s", config.Hash(), said)
				}
				ours.Backend.Hash++
				if said := planWith(t, program, fake, block, ours); !strings.Contains(said, required) {
					t.Errorf("a number that is wrong is accepted:\n%s", said)
				}
			})
		}
	}
}

// tableEntry is one of the table of types, or of a table of differences.
type tableEntry struct {
	Attributes map[string]any
	Younger    map[string]string
	Blocks     map[string]tableEntry
	Without    []string
}

// bodies has everything that a block of each type may hold, where the table of
// Terraform 1.11 has it, and with the differences that another table has.
func bodies(t *testing.T, differences map[string]tableEntry) map[string]string {
	t.Helper()
	src, err := os.ReadFile("schemas.json")
	if err != nil {
		t.Fatal(err)
	}
	var types map[string]tableEntry
	if err := json.Unmarshal(src, &types); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for name, s := range types {
		for young := range s.Younger {
			delete(s.Attributes, young)
		}
		for _, missing := range differences[name].Without {
			delete(s.Attributes, missing)
		}
		maps.Copy(s.Attributes, differences[name].Attributes)
		maps.Copy(s.Blocks, differences[name].Blocks)
		text := arguments(s.Attributes)
		for _, nested := range slices.Sorted(maps.Keys(s.Blocks)) {
			text += nested + " {\n" + arguments(s.Blocks[nested].Attributes) + "}\n"
		}
		all[name] = text
	}
	return all
}

// arguments gives a value to each of some arguments.
func arguments(types map[string]any) (text string) {
	values := map[string]string{
		"string": `"<é>"`, "number": "2.5", "bool": "true", "any": `["b", "a"]`,
		"list(string)": `["b", "a"]`, "set(string)": `["b", "a", "b"]`, "map(string)": `{ b = 1, a = "2" }`,
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		switch word := types[name].(type) {
		case string:
			text += name + " = " + values[strings.TrimSuffix(word, "!")] + "\n"
		case map[string]any:
			text += name + " = {\n" + arguments(word) + "}\n"
		}
	}
	return text
}

// overridesOf is a file of -backend-config with the same arguments, so that no
// required one is missing.
func overridesOf(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "all.hcl")
	write(t, path, body)
	return path
}

// planRecord is a record with values of no block.
type planRecord struct {
	Version int `json:"version"`
	Backend struct {
		Type   string         `json:"type"`
		Config map[string]any `json:"config"`
		Hash   uint64         `json:"hash"`
	} `json:"backend"`
}

// alienRecord is our record, with a value changed in each argument that is a string.
func alienRecord(t *testing.T, config *backend.Config, product getproviders.Product) (r planRecord) {
	t.Helper()
	made, err := backend.NewRecord(config, product)
	if err != nil {
		t.Fatal(err)
	}
	content, err := made.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	for name, value := range r.Backend.Config {
		if text, ok := value.(string); ok {
			r.Backend.Config[name] = text + "/"
		}
	}
	return r
}

// planWith runs plan on a block and a record. What becomes of the backend
// itself doesn't matter, nor how long it takes to find that out.
func planWith(t *testing.T, program string, fake cloud, block string, r planRecord) string {
	t.Helper()
	dir := t.TempDir()
	content, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".terraform"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".terraform", backend.FileName), string(content))
	write(t, filepath.Join(dir, "main.tf"), "terraform {\n"+block+"\n}\n")
	write(t, filepath.Join(dir, "cli.tfrc"), "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "plan", "-input=false", "-no-color")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), fake.env...), "CHECKPOINT_DISABLE=1", "HOME="+dir, "TF_DATA_DIR=", "TF_CLI_ARGS=",
		"TF_WORKSPACE=", "TF_CLI_CONFIG_FILE="+filepath.Join(dir, "cli.tfrc"))
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func peerVersion(t *testing.T, program string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "version", "-json")
	cli := filepath.Join(t.TempDir(), "cli.tfrc")
	write(t, cli, "")
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+cli)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Version
}
