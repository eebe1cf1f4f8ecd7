package backend_test

import (
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
)

// FuzzComputedBackend has blocks with computed arguments: whatever they refer to, there is a
// record or a problem.
func FuzzComputedBackend(f *testing.F) {
	f.Add("terraform {\n backend \"local\" {\n path = \"${var.a}/${local.b}\"\n}\n}\nvariable \"a\" {\n default = \"x\"\n}\nlocals {\n b = upper(var.a)\n}", "{}")
	f.Add("terraform {\n backend \"s3\" {\n assume_role = { tags = var.a }\n}\n}\nvariable \"a\" {\n default = { x = 1 }\n sensitive = true\n}", "{}")
	f.Add("variable \"a\" {}\nterraform {\n backend \"kubernetes\" {\n exec {\n args = [var.a, data.b.c]\n}\n}\n}", "{}")
	f.Add("variable \"a\" {\n default = 1\n}", `{"terraform":{"backend":{"http":{"address":"${var.a}","headers":{"${var.a}":"b"}}}}}`)
	f.Add("terraform {\n cloud {\n organization = path.root\n workspaces {\n tags = toset([null])\n}\n}\n}", "{}")
	product := asOpenTofu
	f.Fuzz(func(t *testing.T, native, json string) {
		dir := must.WriteAll(t, t.TempDir(), map[string]string{"main.tofu": native, "more.tofu.json": json})
		module, _ := load.LoadModuleWith(dir, product, load.Options{Inputs: load.Values{}})
		b := module.Backend
		if b == nil || b.Body == nil {
			return
		}
		config, diags := backend.Decode(*b, backend.Options{Product: product})
		if diags.HasErrors() {
			return
		}
		r, err := backend.NewRecord(config, product)
		if err != nil {
			return
		}
		must.Succeed(t, must.ErrorOf(r.Encode()))
	})
}
