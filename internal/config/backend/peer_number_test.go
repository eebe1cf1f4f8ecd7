package backend_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// required is printed by plan if the record doesn't match the block.
const required = "initialization required"

// TestRecord_HasTheNumberThatTerraformKnows lets Terraform's plan compare the record's number with
// its own, for every type and without any service: a record with other values is accepted only if
// the number is that of the block. The blocks have all arguments, or none.
func TestRecord_HasTheNumberThatTerraformKnows(t *testing.T) {
	program := peertest.LookTerraform(t)
	checkNumbers(t, program, getproviders.Terraform(peerVersion(t, program)), bodies(t, nil))
}

func checkNumbers(t *testing.T, program string, product getproviders.Product, bodies map[string]string) {
	t.Helper()
	fake := storagetest.StartCloud(t)
	for name, body := range bodies {
		for part, text := range map[string]string{"all": body, "none": ""} {
			block := fmt.Sprintf("backend %q {\n%s}", name, text)
			if name == backend.Cloud {
				block = "cloud {\n" + text + "}"
			}
			config, diags := backend.Decode(t.Context(), parseBlock(t, block), backend.Options{Product: product, Overrides: overridesOf(t, name, body)})
			if len(diags) > 0 && diags[0].Summary == "Unsupported backend type" {
				t.Logf("%s v%s has no %s", product.Name, product.Version, name)
				continue
			}
			if diags.HasErrors() {
				t.Fatalf("%s: %v", block, diags.Errs())
			}
			t.Run(name+"/"+part, func(t *testing.T) {
				t.Parallel()
				peertest.PeerCase(t, t.Name())
				ours := alienRecord(t, config, product)
				must.NotContain(t, planWith(t, program, fake, block, ours), required, ours.Backend.Hash)
				ours.Backend.Hash++
				must.Contain(t, planWith(t, program, fake, block, ours), required, "a number that is wrong is accepted")
			})
		}
	}
}

// tableEntry is an entry of the table of types, or of a table of differences.
type tableEntry struct {
	Attributes map[string]any
	Younger    map[string]string
	Blocks     map[string]tableEntry
	Without    []string
}

// bodies has all arguments that a block of each type may have, by the table of Terraform 1.11 and
// the differences in another table.
func bodies(t *testing.T, differences map[string]tableEntry) map[string]string {
	t.Helper()
	src := must.Get(os.ReadFile("schemas.json"))(t)
	var types map[string]tableEntry
	must.Succeed(t, json.Unmarshal(src, &types))
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

// arguments gives a value to each of the given arguments.
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

// overridesOf are files of -backend-config: one with the same arguments, so that no required one
// is missing, and one with valid values.
func overridesOf(t *testing.T, name, body string) []string {
	t.Helper()
	dir := t.TempDir()
	right := map[string]string{
		"azurerm":    "client_certificate = null\nclient_id_file_path = null\nclient_secret_file_path = null\noidc_token_file_path = null\nenvironment = null\n",
		"consul":     "ca_file = null\ncert_file = null\nkey_file = null\n",
		"cos":        "acl = \"private\"\n",
		"gcs":        "credentials = null\nencryption_key = null\nkms_encryption_key = null\n",
		"http":       "retry_max = 2\nretry_wait_min = 2\nretry_wait_max = 2\nclient_certificate_pem = null\nclient_private_key_pem = null\naddress = \"http://127.0.0.1\"\nlock_address = \"http://127.0.0.1\"\nunlock_address = \"http://127.0.0.1\"\nclient_ca_certificate_pem = null\n",
		"kubernetes": "in_cluster_config = false\n",
		"oci":        "auth = null\nbucket = \"b\"\n",
		"oss":        "acl = \"private\"\nassume_role_session_expiration = 900\n",
		"cloud":      "hostname = \"tf.example.com\"\nworkspaces {\n  name = \"a\"\n}\n",
		"remote":     "hostname = \"tf.example.com\"\nworkspaces {\n  name = \"a\"\n}\n",
		"s3": "kms_key_id = \"alias/a\"\nsse_customer_key = null\nshared_credentials_file = null\nforce_path_style = null\n" +
			"allowed_account_ids = null\nforbidden_account_ids = null\ncustom_ca_bundle = null\nec2_metadata_service_endpoint = null\nendpoints = null\nretry_mode = \"standard\"\nec2_metadata_service_endpoint_mode = \"IPv4\"\nassume_role = null\nassume_role_with_web_identity = null\n",
		"pg": "conn_str = null\n",
	}
	if strings.Contains(body, "timeout_seconds") { // so it is for OpenTofu, which looks at more values
		right["azurerm"] += "timeout_seconds = 3\nstorage_account_name = \"account\"\ncontainer_name = \"container\"\naccess_key = \"a2V5\"\n"
	}
	must.Write(t, filepath.Join(dir, "all.hcl"), body)
	must.Write(t, filepath.Join(dir, "right.hcl"), right[name])
	return []string{filepath.Join(dir, "all.hcl"), filepath.Join(dir, "right.hcl")}
}

// planRecord is a record whose values are those of no block.
type planRecord struct {
	Version int `json:"version"`
	Backend struct {
		Type   string         `json:"type"`
		Config map[string]any `json:"config"`
		Hash   uint64         `json:"hash"`
	} `json:"backend"`
}

// alienRecord is the record of tfdeps with another value of each argument that is a string.
func alienRecord(t *testing.T, config *backend.Config, product getproviders.Product) (r planRecord) {
	t.Helper()
	made := must.Get(backend.NewRecord(config, product))(t)
	content := must.Get(made.Encode())(t)
	must.Succeed(t, json.Unmarshal(content, &r))
	for name, value := range r.Backend.Config {
		if text, ok := value.(string); ok {
			r.Backend.Config[name] = text + "/"
		}
	}
	return r
}

// planWith runs plan on a block and a record. The backend's own result and duration don't matter.
func planWith(t *testing.T, program string, fake storagetest.Cloud, block string, r planRecord) string {
	t.Helper()
	dir := t.TempDir()
	content := must.Get(json.Marshal(r))(t)
	must.Write(t, filepath.Join(dir, ".terraform", backend.FileName), string(content))
	must.Write(t, filepath.Join(dir, "main.tf"), "terraform {\n"+block+"\n}\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, _ := peertest.Command(ctx, program, dir, slices.Concat(fake.Env, []string{"HOME=" + dir, "TF_WORKSPACE="}), "plan", "-input=false", "-no-color").CombinedOutput()
	return string(out)
}

func peerVersion(t *testing.T, program string) string {
	t.Helper()
	out := must.Get(peertest.Command(t.Context(), program, "", nil, "version", "-json").Output())(t)
	var answer struct {
		Version string `json:"terraform_version"`
	}
	must.Succeed(t, json.Unmarshal(out, &answer))
	return answer.Version
}
