package load

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/must"
)

// FuzzDirectory loads the files of an archive, with any names.
func FuzzDirectory(f *testing.F) {
	for _, m := range readModules(f) {
		for i, name := range m.names() {
			if i%5 != 0 {
				continue // other tests read all of them
			}
			f.Add(txtar.Format(m.directory(name)))
		}
	}
	f.Add([]byte("-- .tf --\n-- a.tf/b.tf --\n-- a.tofu --\n-- main_override.tf.json --\n{}\n-- tests/a.tftest.json --\n[]\n-- ../x.tf --\n"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		if bytes.Contains(archive, []byte("-- --")) {
			t.Skip("package txtar panics")
		}
		dir := t.TempDir()
		for _, file := range txtar.Parse(archive).Files {
			path := filepath.Join(dir, filepath.FromSlash(file.Name))
			if !filepath.IsLocal(filepath.FromSlash(file.Name)) || os.MkdirAll(filepath.Dir(path), 0o755) != nil {
				continue
			}
			_ = os.WriteFile(path, file.Data, 0o644) // some are no names of files
		}
		once, again := summary(dir, asTerraform), summary(dir, asTerraform)
		must.Equal(t, once, again, "the same files say something else")
	})
}

func FuzzLoadModule(f *testing.F) {
	for _, m := range readModules(f) {
		for i, name := range m.names() {
			if i%5 != 0 {
				continue // other tests read all of them
			}
			f.Add(m.text(name, "main.tf"), m.text(name, "main.tf.json"), m.text(name, "override.tf"))
		}
	}
	f.Add("import {\n to = a[b].c[0][\"d\"]\n id = 1\n}", `{"import":{"to":"${a}.b","id":""}}`, `module "m" { source = [] }`)
	f.Add("terraform {\n required_providers {\n a = { (null) = 1, \"${x}\" = 2, version = 1 / 0 }\n}\n}", `{"terraform":[null,{},[]]}`, "provider \"a\" { alias = null }")
	f.Add("variable \"a\" {\n const = true\n type = set(any)\n default = [1]\n}\nlocals {\n b = local.c\n c = \"${local.b}${var.a[0]}\"\n}\nmodule \"m\" {\n source = lower(local.c)\n version = var.a\n}",
		`{"variable":{"d":{"const":true}},"module":{"n":{"source":"${var.d}","x":[{"y":"${path.module}"}]}}}`, `locals { b = format("%s-%d", path.root, 3) }`)
	f.Fuzz(func(t *testing.T, native, json, override string) {
		module, diags := LoadModule(writeFiles(t, texts{
			"main.tf": native, "main.tf.json": json, "override.tf": override,
		}), asTerraform)
		for _, call := range module.Calls {
			diags = append(diags, call.Problems()...)
		}
		module.CheckVersion()
		reqs, more := module.Requirements()
		for _, diag := range append(diags, more...) {
			if diag.Summary == "" || diag.Subject == nil {
				t.Errorf("a problem without place: %v", diag)
			}
		}
		for p, all := range reqs {
			for _, req := range all {
				if p == (getproviders.Provider{}) || req.Pos.File == "" || req.Pos.Line == 0 {
					t.Errorf("%v is required at %v", p, req.Pos)
				}
			}
		}
	})
}

func FuzzTestFile(f *testing.F) {
	for _, m := range readModules(f) {
		for _, name := range m.names() {
			if native := m.text(name, "a.tftest.hcl"); native != "" {
				f.Add(native, m.text(name, "b.tftest.json"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, native, json string) {
		module, diags := LoadModule(writeFiles(t, texts{"a.tftest.hcl": native, "tests/b.tftest.json": json}), asTerraform)
		for _, run := range module.TestRuns {
			diags = append(diags, run.Call.Problems()...)
			if run.Call.SourceRange.Filename == "" || run.Name == "" {
				t.Errorf("run %+v", run)
			}
		}
		for _, diag := range diags {
			if diag.Summary == "" || diag.Subject == nil {
				t.Errorf("a problem without place: %v", diag)
			}
		}
	})
}
