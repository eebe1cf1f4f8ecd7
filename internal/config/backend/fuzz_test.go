package backend_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
	"github.com/tfdeps/tfdeps/internal/must"
)

func FuzzRead(f *testing.F) {
	f.Add(`{"version": 3, "terraform_version": "1.11.4", "backend": {"type": "local", "config": {"path": "a"}, "hash": 5}}`)
	f.Add(`{"version": 3, "backend": {"type": "s3", "config": {"endpoints": {"s3": 1}, "allowed_account_ids": ["a"]}, "hash": 1e3}}`)
	f.Add(`{"version": 3, "backend": null}`)
	configs := []*backend.Config{
		nil, decode(f, `backend "local" {}`), decode(f, "backend \"s3\" {\n  bucket = \"b\"\n  key = \"k\"\n  region = \"r\"\n}"), decode(f, `cloud {}`),
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(dir, backend.FileName)
		must.Write(t, path, content)
		r, err := backend.Read(nil, path, getproviders.Product{})
		if err != nil {
			return
		}
		r.Text("path")
		for _, c := range configs {
			r.Compare(c, true)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("local", "path = \"a\"\n", "path=x")
	f.Add("cos", "bucket = 1\nassume_role {\n role_arn = [] \n}\n", "region=a")
	f.Add("s3", "assume_role = { tags = { a = 1 } }\n", "endpoints={s3=\"x\"}")
	f.Add("kubernetes", "exec {\n}\nlabels = {}\n", "labels={a=[}")
	f.Fuzz(func(t *testing.T, kind, body, given string) {
		path := filepath.Join(t.TempDir(), "x.hcl")
		must.Write(t, path, body)
		if !strings.Contains(given, "=") {
			given = ""
		}
		config, diags := backend.Decode(t.Context(), load.Backend{Type: kind}, backend.Options{Product: asTerraform, Overrides: []string{path, given}})
		if diags.HasErrors() {
			return
		}
		r := must.Get(backend.NewRecord(config, asTerraform))(t)
		must.Equal(t, r.Compare(config, true), backend.Unchanged, "a record of its own configuration")
	})
}

// FuzzComputedBackend has blocks with computed arguments: for any references, there is a record or
// a problem.
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
		config, diags := backend.Decode(t.Context(), *b, backend.Options{Product: product})
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
