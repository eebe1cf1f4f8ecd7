package configs

import (
	"testing"
)

func FuzzLoadModule(f *testing.F) {
	for _, m := range readModules(f) {
		for _, name := range m.names() {
			f.Add(m.text(name, "main.tf"), m.text(name, "main.tf.json"), m.text(name, "override.tf"))
		}
	}
	f.Add("import {\n to = a[b].c[0][\"d\"]\n id = 1\n}", `{"import":{"to":"${a}.b","id":""}}`, `module "m" { source = [] }`)
	f.Add("terraform {\n required_providers {\n a = { (null) = 1, \"${x}\" = 2, version = 1 / 0 }\n}\n}", `{"terraform":[null,{},[]]}`, "provider \"a\" { alias = null }")
	f.Fuzz(func(t *testing.T, native, json, override string) {
		module, diags := LoadModule(writeFiles(t, map[string]string{
			"main.tf": native, "main.tf.json": json, "override.tf": override,
		}), engine())
		module.CheckVersion(engine())
		reqs, more := module.Requirements(engine())
		for _, diag := range append(diags, more...) {
			if diag.Summary == "" || diag.Subject == nil {
				t.Errorf("a problem without place: %v", diag)
			}
		}
		for p, all := range reqs {
			for _, req := range all {
				if p.IsZero() || req.Origin.File == "" || req.Origin.Line == 0 {
					t.Errorf("%v is required at %v", p, req.Origin)
				}
			}
		}
	})
}
