package backend_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
	"github.com/tfdeps/tfdeps/internal/peertest"
	"github.com/tfdeps/tfdeps/internal/storagetest"
)

// TestRecord_SameAsTerraform lets Terraform initialize every type of backend for which a fake
// service suffices, and compares records byte for byte.
func TestRecord_SameAsTerraform(t *testing.T) {
	program := peertest.LookTerraform(t)
	checkRecords(t, program, getproviders.Terraform(peerVersion(t, program)))
}

func checkRecords(t *testing.T, program string, product getproviders.Product) {
	t.Helper()
	fake := storagetest.StartCloud(t)
	for name, c := range peerCases {
		if c.only != "" && c.only != product.Program {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peertest.PeerCase(t, t.Name())
			dir := t.TempDir()
			expand := strings.NewReplacer("$URL", fake.URL, "$HOST", strings.TrimPrefix(fake.URL, "http://"), "$DIR", filepath.ToSlash(dir))
			must.Write(t, filepath.Join(dir, "main.tf"), "terraform {\n"+expand.Replace(c.block)+"\n}\n")
			must.Write(t, filepath.Join(dir, "x.hcl"), expand.Replace(c.file))
			args := []string{"init", "-input=false", "-no-color"}
			var overrides []string
			for _, given := range strings.Split(c.given, "|")[1:] {
				overrides = append(overrides, expand.Replace(given))
				args = append(args, "-backend-config="+expand.Replace(given))
			}
			cmd := peertest.Command(t.Context(), program, dir, slices.Concat(fake.Env, []string{"HOME=" + dir}), args...)
			if c.workspace != "" {
				cmd.Env = append(cmd.Env, "TF_WORKSPACE="+c.workspace)
			}
			out, err := cmd.CombinedOutput()
			theirs, readErr := os.ReadFile(filepath.Join(dir, ".terraform", backend.FileName))
			must.Succeed(t, readErr, "Terraform wrote no record", err, string(out))
			must.Equal(t, string(ownRecord(t, dir, overrides, product)), string(theirs), theirs)
		})
	}
}

// ownRecord is the record that tfdeps writes for the configuration in a directory.
func ownRecord(t *testing.T, dir string, overrides []string, product getproviders.Product) []byte {
	t.Helper()
	module, diags := load.LoadModule(dir, product)
	must.Len(t, diags, 0)
	for i, given := range overrides {
		if !strings.Contains(given, "=") && given != "" {
			overrides[i] = filepath.Join(dir, given)
		}
	}
	b := module.Backend
	config, diags := backend.Decode(t.Context(), *b,
		backend.Options{Product: product, Overrides: overrides})
	must.Len(t, diags, 0)
	record := must.Get(backend.NewRecord(config, product))(t)
	content := must.Get(record.Encode())(t)
	return content
}

// lookTofu finds OpenTofu, which no package archive has: without it, a test is skipped even if
// peers are required.
func lookTofu(t *testing.T) string {
	t.Helper()
	program, err := peertest.PeerProgram("tofu")
	if err != nil {
		t.Skipf("there is no tofu: %v", err)
	}
	return program
}

// TestRecord_SameAsOpenTofu is [TestRecord_SameAsTerraform] for OpenTofu.
func TestRecord_SameAsOpenTofu(t *testing.T) {
	program := lookTofu(t)
	checkRecords(t, program, getproviders.OpenTofu(peerVersion(t, program)))
}

// TestRecord_HasTheNumberThatOpenTofuKnows is [TestRecord_HasTheNumberThatTerraformKnows] for OpenTofu.
func TestRecord_HasTheNumberThatOpenTofuKnows(t *testing.T) {
	program := lookTofu(t)
	src := must.Get(os.ReadFile("schemas_opentofu.json"))(t)
	var differences map[string]tableEntry
	must.Succeed(t, json.Unmarshal(src, &differences))
	checkNumbers(t, program, getproviders.OpenTofu(peerVersion(t, program)), bodies(t, differences))
}
